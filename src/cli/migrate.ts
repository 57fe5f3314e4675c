import { migrate, whatIsMissing } from '../database/migrate.ts';
import { databaseAddresses, migrateOptions } from '../database/open.ts';
import { refusePooler } from '../database/pooler.ts';
import { createLog } from '../process/log.ts';
import { type Config, readConfig } from '../settings/config.ts';
import { withDatabaseUrl } from './configured-database.ts';
import { CommandFailure } from './failure.ts';
import { example, type Frame } from './frame.ts';
import { write } from './output.ts';
import type { Printer } from './printer.ts';

interface MigrateCommand {
  check?: boolean;
  print?: boolean;
}

/**
 * `lombard migrate`, `--check`, `--print`: as the owner (LOMBARD_MIGRATE_DATABASE_URL), for the role of DATABASE_URL. The embedded database
 * need not run. The exit code is 1 if `--check` finds something missing.
 */
export function migrateCommand({ program, does }: Frame): void {
  const command = program
    .command('migrate')
    .description('bring the database to the schema of this program (docs/upgrading.md)')
    .option('--check', 'only list what is missing; the exit code is 1 if something is')
    .option('--print', 'write the missing SQL to standard output, and run nothing');
  example(command, 'migrate', 'migrate --check', 'migrate --print > missing.sql');
  does<MigrateCommand>(command, async ({ options, print }) => {
    if (options.check && options.print) throw new CommandFailure('--check and --print: give only one of them', 2);
    const config = readConfig();
    return withDatabaseUrl(config, (url) => migrateAt(url, config, options, print));
  });
}

async function migrateAt(url: string, config: Config, options: MigrateCommand, print: Printer): Promise<number> {
  const addresses = databaseAddresses(config, url);
  await refusePooler(addresses.owner, config.migrateDatabaseUrl ? 'LOMBARD_MIGRATE_DATABASE_URL' : 'DATABASE_URL');
  const further = migrateOptions(config, addresses);
  if (!options.check && !options.print) {
    await migrate(addresses.owner, createLog(config.logLevel, process.stdout.isTTY === true), further);
    return 0;
  }
  const { names, sql } = await whatIsMissing(addresses.owner, further);
  if (options.print) {
    await write(sql);
    return 0;
  }
  if (print.json) print.record({ missing: names });
  else for (const name of names) print.note(`missing: ${name}`);
  return names.length > 0 ? 1 : 0;
}
