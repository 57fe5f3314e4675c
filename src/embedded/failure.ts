import { dataDirectoryFault } from '../settings/data-directory.ts';
import { StartupError } from '../values/errors.ts';
import { messageOf } from '../values/unknown.ts';

/** The message of `initdb` for a user that the machine does not know. It checks this even if it is given another name. */
const NO_ACCOUNT = /could not look up effective user ID (\d+)/;

/** One clear error for a fault of the data directory: what, where, and what to do. */
export function startFailure(dataDir: string, cause: unknown): StartupError {
  const text = messageOf(cause);
  if (text.includes('LOMBARD_DATA_DIR')) return new StartupError(text, { cause });
  const [, uid] = NO_ACCOUNT.exec(text) ?? [];
  if (uid !== undefined)
    return new StartupError(
      `the embedded PostgreSQL cannot be made by user ${uid}, who has no account on this machine: ` +
        `add one (useradd --uid ${uid} lombard), start the service as a user who has one, or set DATABASE_URL`,
      { cause },
    );
  return dataDirectoryFault(dataDir, cause) ?? new StartupError(text, { cause });
}

/** The lines of a program's output that explain why it failed. */
export function reason(output: string): string {
  const lines = output.trim().split('\n');
  const errors = lines.filter((line) => /FATAL|PANIC|ERROR|HINT|error:|could not/.test(line));
  return (errors.length > 0 ? errors : lines.slice(-1)).join('; ');
}
