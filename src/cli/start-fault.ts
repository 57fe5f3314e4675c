import { statfsSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { databaseFault } from '../database/fault.ts';
import { dataDirectoryFault, leadsToEmbedded } from '../settings/data-directory.ts';
import { StartupError } from '../values/errors.ts';
import { fieldsOf } from '../values/unknown.ts';
import { CommandFailure } from './failure.ts';

/** PostgreSQL writes its log in segments of this size, and stops if there is no room for one. */
const SEGMENT_BYTES = 16 * 1_048_576;

/**
 * The message for an error that ended a start, if the data directory or the database caused it.
 * @param settings `databaseUrl`: undefined for the embedded database, which is in the data directory
 * @returns one line; the error itself if it has another cause
 */
export function startFault(
  { dataDir, databaseUrl }: { dataDir: string; databaseUrl: string | undefined },
  error: Error,
): Error {
  // The command has already said what is wrong.
  if (error instanceof StartupError || error instanceof CommandFailure) return error;
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const { path, syscall } = fieldsOf(cause);
    const own = typeof path === 'string' ? path.startsWith(resolve(dataDir) + sep) : syscall === 'write';
    const fault = own ? dataDirectoryFault(dataDir, cause) : undefined;
    if (fault) return fault;
    const reason = path === undefined ? databaseFault(cause) : undefined;
    if (reason === undefined) continue;
    // A worker gets the embedded database's address from its primary.
    if (databaseUrl !== undefined && !leadsToEmbedded(dataDir, databaseUrl))
      return new StartupError(`DATABASE_URL: ${reason} (${error.message})`, { cause: error });
    const full = isFull(dataDir) ? new Error('ENOSPC', { cause: error }) : cause;
    return (
      dataDirectoryFault(dataDir, full) ??
      new StartupError(`the embedded database in ${resolve(dataDir)}: ${reason} (${error.message})`, { cause: error })
    );
  }
  return error;
}

/** Whether the disk is too full for PostgreSQL to continue. */
function isFull(dataDir: string): boolean {
  const { bavail, bsize } = statfsSync(dataDir);
  return bavail * bsize < SEGMENT_BYTES;
}
