import { Option } from 'commander';
import { transaction } from '../database/database.ts';
import { databaseAddresses, openDatabase } from '../database/open.ts';
import { createPool } from '../database/pools.ts';
import { createOperatorToken } from '../operator/token.ts';
import { createLog } from '../process/log.ts';
import { readConfig } from '../settings/config.ts';
import { OPERATOR_ROLES, type OperatorRole } from '../settings/staff-settings.ts';
import { parseInstant, ServiceClock } from '../values/calendar.ts';
import { fieldsOf, listOf } from '../values/unknown.ts';
import { withDatabaseUrl } from './configured-database.ts';
import { CommandFailure } from './failure.ts';
import { example, type Frame } from './frame.ts';
import { callOperator, type OperatorOptions, withOperator } from './operator-call.ts';
import type { Column } from './printer.ts';

interface CreateOptions extends OperatorOptions {
  role: OperatorRole;
  expires?: string;
  database?: boolean;
}

const COLUMNS: Column<Readonly<Record<string, unknown>>>[] = [
  ['TOKEN', ({ id }) => id],
  // The role is null if the scopes were given individually.
  ['ROLE', ({ role, scopes }) => role ?? listOf(scopes).join(' ')],
  ['NAME', ({ name }) => name],
  ['EXPIRES', ({ expires_at }) => expires_at],
];

/** `lombard operator-tokens`. */
export function operatorTokenCommands(frame: Frame): void {
  const tokens = frame.program
    .command('operator-tokens')
    .alias('operator-token')
    .description('manage the tokens of the operator interface')
    .helpCommand(false);
  const roles =
    'admin: everything; core: feeds data; identity: contacts; support: redelivers; auditor: the audit trail';
  const create = withOperator(
    tokens
      .command('create <name>')
      .description('create a token and print it; it cannot be shown again')
      .addOption(new Option('--role <role>', roles).choices([...OPERATOR_ROLES]).default('core' satisfies OperatorRole))
      .option('--expires <instant>', 'when it expires, for example 2027-01-01T00:00:00Z')
      .option('--database', 'write it directly to the database: for the first token of an installation'),
  );
  example(create, 'operator-tokens create core-banking', 'operator-tokens create first --role admin --database');
  frame.does<CreateOptions>(create, async ({ args: [name = ''], options, print }) => {
    const made = await createToken(name, options);
    print.done(String(made.token), made);
  });

  const list = withOperator(tokens.command('list').description('list the valid tokens'));
  frame.does<OperatorOptions>(example(list, 'operator-tokens list'), async ({ options, print }) =>
    print.rows(listOf(await callOperator(options, LIST)).map(fieldsOf), COLUMNS),
  );

  const revoke = withOperator(tokens.command('revoke <id>').description('revoke a token by the id that list prints'));
  example(revoke, 'operator-tokens revoke 5f0c...');
  frame.does<OperatorOptions>(revoke, async ({ args: [id = ''], options, print }) => {
    const path = `/operator-tokens/${encodeURIComponent(id)}`;
    await callOperator(options, { method: 'DELETE', path });
    print.done(`${id} has been revoked`, { id, done: 'revoked' });
  });
}

const LIST = { method: 'GET', path: '/operator-tokens' } as const;

async function createToken(name: string, options: CreateOptions): Promise<{ token?: unknown }> {
  const expiresAt = options.expires === undefined ? undefined : parseInstant(options.expires);
  if (options.expires !== undefined && !expiresAt)
    throw new CommandFailure(`--expires: "${options.expires}" must be an instant, for example 2027-01-01T00:00:00Z`, 2);
  if (options.database) return createInDatabase(name, options.role, expiresAt);
  const body = { name, role: options.role, ...(options.expires ? { expires_at: options.expires } : {}) };
  return fieldsOf(await callOperator(options, { method: 'POST', path: '/operator-tokens', body }));
}

/** Creates a token without the operator interface, because production does not start before it has one. */
async function createInDatabase(
  name: string,
  role: OperatorRole,
  expiresAt: Date | undefined,
): Promise<{ token: string }> {
  const config = readConfig();
  return withDatabaseUrl(config, async (url) => {
    const log = createLog('silent', false);
    const addresses = databaseAddresses(config, url);
    await openDatabase(config, addresses, log);
    const pool = createPool(addresses.sessions, log, { max: 1 });
    try {
      const act = { now: new ServiceClock().now(), actor: 'command line', requestId: 'operator-token create' };
      return await transaction(pool, (tx) => createOperatorToken(tx, act, { name, role, expiresAt }, null));
    } finally {
      await pool.end();
    }
  });
}
