import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseInstant, ServiceClock } from '../calendar.ts';
import { readConfig } from '../config.ts';
import { createPool, transaction } from '../database.ts';
import { createLog } from '../log.ts';
import { databaseAddresses, openDatabase } from '../open-database.ts';
import type { OperatorRole } from '../operator/scope.ts';
import { createOperatorToken } from '../operator/token.ts';
import { CommandFailure } from './failure.ts';
import { callOperator, type OperatorOptions } from './operator-call.ts';

interface CreateOptions extends OperatorOptions {
  role: OperatorRole;
  expires?: string;
  database?: boolean;
}

/** Creates a token and prints nothing else, so that a script can use it. */
export async function createToken(name: string, options: CreateOptions): Promise<number> {
  const expiresAt = options.expires === undefined ? undefined : parseInstant(options.expires);
  if (options.expires !== undefined && !expiresAt)
    throw new CommandFailure(`--expires: "${options.expires}" must be an instant, for example 2027-01-01T00:00:00Z`, 2);
  const made = options.database
    ? await createInDatabase(name, options.role, expiresAt)
    : await callOperator(options, {
        method: 'POST',
        path: '/operator-tokens',
        body: { name, role: options.role, ...(options.expires ? { expires_at: options.expires } : {}) },
      });
  process.stdout.write(`${(made as { token: string }).token}\n`);
  return 0;
}

/** Creates a token without the operator interface: a production service does not start before it has one. */
async function createInDatabase(
  name: string,
  role: OperatorRole,
  expiresAt: Date | undefined,
): Promise<{ token: string }> {
  const config = readConfig();
  const url = config.databaseUrl ?? embeddedUrl(config.dataDir);
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
}

/** @throws CommandFailure if the data directory has no embedded database */
export function embeddedUrl(dataDir: string): string {
  try {
    return readFileSync(join(dataDir, 'postgres-url'), 'utf8').trim();
  } catch {
    throw new CommandFailure(`set DATABASE_URL; ${dataDir} does not contain an embedded database`);
  }
}

export async function listTokens(options: OperatorOptions): Promise<number> {
  const tokens = (await callOperator(options, { method: 'GET', path: '/operator-tokens' })) as {
    id: string;
    name: string;
    role: string;
    expires_at: string | null;
  }[];
  for (const token of tokens)
    process.stdout.write(
      `${token.id}  ${token.role.padEnd(7)}  ${token.name}${token.expires_at ? `  until ${token.expires_at}` : ''}\n`,
    );
  return 0;
}

export async function revokeToken(id: string, options: OperatorOptions): Promise<number> {
  await callOperator(options, { method: 'DELETE', path: `/operator-tokens/${encodeURIComponent(id)}` });
  process.stdout.write(`${id} has been revoked\n`);
  return 0;
}
