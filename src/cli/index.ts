import { readFile } from 'node:fs/promises';
import { Command, CommanderError, Option } from 'commander';
import { LombardError } from '../../sdk/src/index.ts';
import { CONFLICT_RULES } from '../imports/conflicts.ts';
import { StartupError } from '../values/errors.ts';
import { errorOf } from '../values/unknown.ts';
import { auditCommands } from './audit.ts';
import { cellsCommands } from './cells.ts';
import { changesCommand } from './changes.ts';
import { clientCommands } from './client-commands.ts';
import { completionCommand } from './completion.ts';
import { doctorCommand } from './doctor/examine.ts';
import { CommandFailure, INTERRUPTED, tell, USAGE } from './failure.ts';
import { example, showExamplesOfGroups } from './frame.ts';
import { IMPORT_KINDS, importFile } from './import.ts';
import { keysCommands } from './keys.ts';
import { mcpCommand } from './mcp/server.ts';
import { migrateDatabase } from './migrate.ts';
import { withOperator } from './operator-call.ts';
import { operatorTokenCommands } from './operator-tokens.ts';
import { OutputClosed, outputClosed, watchOutput } from './output.ts';
import { Printer } from './printer.ts';
import type { ServeOptions } from './serve.ts';
import { readStartConfig } from './start-config.ts';

/** An option as the API writes its parameters: `--page_size` is `--page-size`. */
const UNDERSCORED_OPTION = /^--[a-z]+(?:_[a-z]+)+(?==|$)/;

/**
 * The command line. A command that fails says why in one line on standard error, with `--json` as an ErrorMessage.
 * @param argv as process.argv
 * @returns the exit status: 0, also where the reader of the output has closed it; 1 if the command failed, 2 if it was called wrongly,
 *   3 if nobody is signed in, 130 if it was interrupted
 */
export async function run(argv: string[]): Promise<number> {
  const words = argv.map((word) => word.replace(UNDERSCORED_OPTION, (name) => name.replaceAll('_', '-')));
  const json = words.includes('--json');
  let code = 0;
  watchOutput();
  const program = await createProgram(json, (result) => {
    code = result;
  });
  try {
    await program.parseAsync(words);
    return code === INTERRUPTED && outputClosed.aborted ? 0 : code;
  } catch (error) {
    if (error instanceof OutputClosed) return 0;
    if (!(error instanceof CommanderError)) return fail(error, json);
    // Help and version are not errors. Commander has written its own refusals already, except for programs.
    if (error.exitCode === 0) return 0;
    return json ? fail(new CommandFailure(error.message.replace(/^error: /, ''), USAGE), json) : USAGE;
  }
}

function fail(error: unknown, json: boolean): number {
  const known = error instanceof CommandFailure || error instanceof StartupError || error instanceof LombardError;
  const { exitCode, line, json: message } = tell(error);
  const text = known ? line : String(errorOf(error).stack);
  if (text !== '') process.stderr.write(json ? `${JSON.stringify(message)}\n` : `lombard: ${text}\n`);
  return exitCode;
}

/**
 * All commands.
 * @param json as `--json`: refusals are not written as text
 * @param finish takes the exit status of the command that ran
 */
export async function createProgram(json: boolean, finish: (code: number) => void): Promise<Command> {
  const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const program = new Command('lombard')
    .description('Client API for cross-border payments: use it, run the service, and import data.')
    .version(manifest.version)
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: (text, write) => (json ? undefined : write(text)) })
    .addHelpText('after', ENVIRONMENT);
  const frame = clientCommands(program, finish);
  program.commandsGroup('Running it:');
  doctorCommand(frame);

  example(
    program
      .command('serve')
      .description('start the service, configured by environment variables (docs/configuration.md)'),
    'serve',
  ).action(async () => finish(await start({ demonstration: false, print: false })));

  example(
    program
      .command('demo')
      .description('start the service to try it out, with a sample application, and print what to do next')
      .option('--no-demo', 'start empty, without the demonstration institution and the sample application'),
    'demo',
    'demo --no-demo',
  ).action(async (options: { demo: boolean }) => finish(await start({ demonstration: options.demo, print: true })));

  addMigrate(program, json, finish);

  withOperator(
    program
      .command('import <file>')
      .description('import an NDJSON file, one record a line, plain or compressed (.gz); - reads standard input')
      .addOption(
        new Option('--kind <kind>', 'kind of the records; default: the one that the file name contains').choices([
          ...IMPORT_KINDS,
        ]),
      )
      .option('--stop', 'stop at the first line that is refused')
      .addOption(
        new Option('--on-conflict <rule>', 'what to do with a line whose record exists').choices([...CONFLICT_RULES]),
      )
      .option('--notify', 'send the notifications that single calls would')
      .option('--no-notify', 'send none; without this, payment-actions does')
      .option(
        '--idempotency-key <key>',
        'the same file with the same key is imported once; after an interruption it continues where it stopped',
      ),
  )
    .addHelpText(
      'after',
      `
Examples:
  lombard import payments.ndjson
  lombard import export.ndjson.gz --kind transactions
  zcat big.gz | lombard import - --kind payments
  lombard import payment-actions.ndjson --no-notify --idempotency-key 2026-11-22

If lines are refused, they are listed and the exit code is 1; the other lines are imported.`,
    )
    .action(async (file: string, options) => finish(await importFile(file, options, new Printer(json))));

  auditCommands(frame);
  keysCommands(frame);
  changesCommand(frame);
  cellsCommands(frame);
  operatorTokenCommands(frame);
  mcpCommand(frame);
  completionCommand(frame);
  showExamplesOfGroups(program);
  return program;
}

function addMigrate(program: Command, json: boolean, finish: (code: number) => void): void {
  example(
    program
      .command('migrate')
      .description('bring the database to the schema of this program (docs/upgrading.md)')
      .option('--check', 'only list what is missing; the exit code is 1 if something is')
      .option('--print', 'write the missing SQL to standard output, and run nothing'),
    'migrate',
    'migrate --check',
    'migrate --print > missing.sql',
  ).action(async (options: { check?: boolean; print?: boolean }) =>
    finish(await migrateDatabase(options, new Printer(json))),
  );
}

/** Loads the service only to start it: loading takes a second, which other commands and a wrong setting need not wait. */
async function start(options: ServeOptions): Promise<number> {
  const config = await readStartConfig();
  const { serve } = await import('./serve.ts');
  return serve(config, options);
}

const ENVIRONMENT = `
Environment (all in docs/configuration.md):
  LOMBARD_DATA_DIR   embedded database, keys, operator-token (./data)
  DATABASE_URL       an existing PostgreSQL instead of the embedded one
  LOMBARD_API_PORT, LOMBARD_AUTH_PORT, LOMBARD_TRUSTED_PORT, LOMBARD_OPERATOR_PORT
                     8080, 8081, 8443, 8090; 0 means any free port
  LOMBARD_WORKERS    processes that share the listeners (1)
  LOMBARD_AUTOPILOT  sandbox: every payment advances one step at this interval (2s)
  LOMBARD_LOG_LEVEL  trace, debug, info, warn, error, fatal or silent (info)

Exit status: 0 done, 1 failed, refused or not reachable, 2 called wrongly, 3 not signed in, 130 interrupted.
lombard <command> --help tells more about a command, with an example.`;
