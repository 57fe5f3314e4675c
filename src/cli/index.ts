import { Command, CommanderError } from 'commander';
import { LombardError } from '../../sdk/src/index.ts';
import type { StartService } from '../context.ts';
import { Problem, StartupError } from '../values/errors.ts';
import { errorOf } from '../values/unknown.ts';
import { accountCommands } from './accounts.ts';
import { approvalCommands } from './approvals.ts';
import { auditCommands } from './audit.ts';
import { bankDetailsCommand } from './bank-details.ts';
import { beneficiaryCommands } from './beneficiaries.ts';
import { cellsCommands } from './cells.ts';
import { changesCommand } from './changes.ts';
import { completionCommand } from './completion.ts';
import { doctorCommand } from './doctor/examine.ts';
import { exchangeCommands } from './exchange.ts';
import { CommandFailure, INTERRUPTED, tell, USAGE } from './failure.ts';
import { fileCommands } from './files.ts';
import { createFrame, example, showExamplesOfGroups } from './frame.ts';
import { importCommand } from './import.ts';
import { keysCommands } from './keys.ts';
import { listenCommand } from './listen.ts';
import { logsCommand } from './logs.ts';
import { mcpCommand } from './mcp/command.ts';
import { migrateCommand } from './migrate.ts';
import { notificationCommands } from './notifications.ts';
import { operatorTokenCommands } from './operator-tokens.ts';
import { OutputClosed, outputClosed, watchOutput } from './output.ts';
import { paymentCommands } from './payments.ts';
import { DEFAULT_PROFILE } from './profile.ts';
import { sandboxCommands } from './sandbox.ts';
import type { ServeOptions } from './serve.ts';
import { signInCommands } from './sign-in/commands.ts';
import { readStartConfig } from './start-config.ts';
import { subscriptionCommands } from './subscriptions.ts';
import { programVersion } from './version.ts';

/** An option written like an API parameter: `--page_size` for `--page-size`. */
const UNDERSCORED_OPTION = /^--[a-z]+(?:_[a-z0-9]+)+(?==|$)/;

/** Loads the service. That takes a second, which only a start with correct settings needs to wait for. */
type LoadService = () => Promise<StartService>;

/**
 * The command line. A command that fails says why in one line on standard error, or with `--json` as an ErrorMessage.
 * @param argv like process.argv
 * @returns the exit status: 0, even if the reader has closed the output; 1 if the command failed, 2 if it was called wrongly, 3 if nobody
 * is signed in, 130 if it was interrupted
 */
export async function run(argv: string[], loadService: LoadService): Promise<number> {
  const words = argv.map((word) => word.replace(UNDERSCORED_OPTION, (name) => name.replaceAll('_', '-')));
  const json = words.includes('--json');
  let code = 0;
  watchOutput();
  const finish = (result: number) => {
    code = result;
  };
  const program = await createProgram(json, finish, loadService);
  try {
    await program.parseAsync(words);
    return code === INTERRUPTED && outputClosed.aborted ? 0 : code;
  } catch (error) {
    if (error instanceof OutputClosed) return 0;
    if (!(error instanceof CommanderError)) return fail(error, json);
    // Help and version are not errors. Commander has already written its own refusals, except for programs.
    if (error.exitCode === 0) return 0;
    return json ? fail(new CommandFailure(error.message.replace(/^error: /, ''), USAGE), json) : USAGE;
  }
}

function fail(error: unknown, json: boolean): number {
  const known = [CommandFailure, StartupError, LombardError, Problem].some((kind) => error instanceof kind);
  const { exitCode, line, json: message } = tell(error);
  const text = known ? line : String(errorOf(error).stack);
  if (text !== '') process.stderr.write(json ? `${JSON.stringify(message)}\n` : `lombard: ${text}\n`);
  return exitCode;
}

/**
 * Makes all commands.
 * @param json whether `--json` was given: refusals are not written as text
 * @param finish receives the exit status of the command that ran
 */
export async function createProgram(
  json: boolean,
  finish: (code: number) => void,
  loadService: LoadService,
): Promise<Command> {
  const program = new Command('lombard')
    .description('Client API for cross-border payments: use it, run the service, and import data.')
    .version(await programVersion())
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: (text, write) => (json ? undefined : write(text)) })
    .addHelpText('beforeAll', ({ command, error }) => {
      // Commander answers a group without a command with its help. Programs get the fault instead.
      if (json && error)
        throw new CommandFailure(`a command is missing: ${pathOf(command)} --help lists the commands`, USAGE);
      return '';
    })
    .addHelpText('after', ENVIRONMENT);
  program
    .option('--json', 'JSON for programs; an error is an ErrorMessage in JSON on standard error')
    .option('--profile <name>', `who is signed in (${DEFAULT_PROFILE})`)
    .option('--client <id>', 'the client to act for, where the contact has several');
  const frame = createFrame(program, finish);
  program.commandsGroup('The client API:');
  signInCommands(frame);
  paymentCommands(frame);
  fileCommands(frame);
  beneficiaryCommands(frame);
  exchangeCommands(frame);
  accountCommands(frame);
  approvalCommands(frame);
  subscriptionCommands(frame);
  notificationCommands(frame);
  listenCommand(frame);
  sandboxCommands(frame);
  logsCommand(frame);
  program.commandsGroup('Running it:');
  doctorCommand(frame);

  const serving = program
    .command('serve')
    .description('start the service, configured by environment variables (docs/configuration.md)');
  frame.does(example(serving, 'serve'), () => start(loadService, { demonstration: false, print: false }));

  const demo = program
    .command('demo')
    .description('start the service to try it out, with a sample application, and print what to do next')
    .option('--no-demo', 'start empty, without the demonstration institution and the sample application');
  frame.does(example(demo, 'demo', 'demo --no-demo'), ({ options }) =>
    start(loadService, { demonstration: options.demo === true, print: true }),
  );

  const load = program
    .command('load', { hidden: true })
    .description('load what a start needs, so that Node keeps it compiled');
  frame.does(example(load, 'load'), () => loadAll(loadService));

  migrateCommand(frame);
  importCommand(frame);
  bankDetailsCommand(frame);
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

/** The words that call a command. */
function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/** Called by `npm ci`. Node writes its compile cache when the process ends (bin/prepare). */
async function loadAll(loadService: LoadService): Promise<void> {
  await Promise.all([import('./serve.ts'), loadService()]);
}

/** Starts the service, after its settings have been checked. */
async function start(loadService: LoadService, options: Omit<ServeOptions, 'startService'>): Promise<number> {
  const config = await readStartConfig();
  const [{ serve }, startService] = await Promise.all([import('./serve.ts'), loadService()]);
  return serve(config, { ...options, startService });
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
