import { randomUUID } from 'node:crypto';
import { poolOf } from '../database/cells/pool.ts';
import type { Pool } from '../database/database.ts';
import { rotateKeys } from '../keys/rotation.ts';
import { type KeyStatus, keysStatus } from '../keys/status.ts';
import { type Config, readConfig } from '../settings/config.ts';
import { existingSandboxKey } from '../settings/private-file.ts';
import { ServiceClock } from '../values/calendar.ts';
import { Vault } from '../values/crypto.ts';
import { withDatabase } from './configured-database.ts';
import { CommandFailure } from './failure.ts';
import { example, type Frame } from './frame.ts';
import type { Column, Printer } from './printer.ts';

const COLUMNS: Column<KeyStatus>[] = [
  ['KEY', ({ key }) => key],
  ['STATE', ({ state }) => state],
  ['SEALED', ({ sealed }) => sealed],
  [
    'WHERE',
    ({ columns }) =>
      Object.entries(columns)
        .map(([column, texts]) => `${column} ${texts}`)
        .join(', '),
  ],
];

/** `lombard keys`, with the settings of the service, whether or not it runs. */
export function keysCommands({ program, does }: Frame): void {
  const keys = program
    .command('keys')
    .description('show and rotate the keys that seal secrets, with the settings of the service (docs/configuration.md)')
    .helpCommand(false);

  const status = keys
    .command('status')
    .description('count what each key has sealed; keys are shown by name, never themselves');
  does(example(status, 'keys status'), async ({ print }) => {
    const found = await withKeys((pool, vault) => keysStatus(poolOf(pool, 'all'), vault));
    print.rows(found, COLUMNS);
    return found.some(({ state }) => state === 'missing') ? 1 : 0;
  });

  const rotate = keys
    .command('rotate')
    .description('seal everything with the first key of LOMBARD_MASTER_KEY while the service runs; it can be repeated');
  does(example(rotate, 'keys rotate'), ({ print }) => rotateAll(print));
}

async function rotateAll(print: Printer): Promise<void> {
  const { sealed, unopened, key } = await withKeys(async (pool, vault) => {
    const act = { now: new ServiceClock().now(), actor: 'command line', requestId: randomUUID() };
    const progress = (rows: number) => void (process.stderr.isTTY && process.stderr.write(`\r${rows} sealed again`));
    return { ...(await rotateKeys(pool, act, vault, progress)), key: vault.names[0] ?? '' };
  });
  if (process.stderr.isTTY && sealed > 0) process.stderr.write('\n');
  print.done(`${sealed} sealed again with the key ${key}`, { key, sealed, unopened });
  const left = Object.entries(unopened).map(([column, rows]) => `${column} ${rows}`);
  if (left.length > 0)
    throw new CommandFailure(
      `no key of LOMBARD_MASTER_KEY opens ${left.join(', ')}: lombard keys status names the missing keys`,
    );
}

async function withKeys<T>(work: (pool: Pool, vault: Vault) => Promise<T>): Promise<T> {
  const config = readConfig();
  const vault = await configuredVault(config);
  return withDatabase(config, 'lombard-keys', (pool) => work(pool, vault));
}

/** The vault with the service's keys. It never creates one. @throws CommandFailure */
async function configuredVault({ masterKeys, dataDir }: Config): Promise<Vault> {
  if (masterKeys.length > 0) return new Vault(...masterKeys);
  const made = await existingSandboxKey(dataDir);
  if (made) return new Vault(made);
  throw new CommandFailure(`set LOMBARD_MASTER_KEY; ${dataDir} does not contain a master key`);
}
