const CAUSES: [RegExp, string][] = [
  [
    /ENOSPC|EDQUOT|No space left|Disk quota exceeded|Check free disk space|wrote only \d+ of/i,
    'is on a full disk: free at least 200 MB',
  ],
  [/EROFS|Read-only file system/i, 'is on a read-only file system'],
  [/EACCES|EPERM|Permission denied|Operation not permitted/i, 'cannot be written by this user'],
  [/ENOTDIR|EEXIST|Not a directory/i, 'is not a directory'],
];

/** One clear error for what went wrong with the data directory: what, where, and what to do. */
export function startFailure(dataDir: string, cause: unknown): Error {
  const text = cause instanceof Error ? cause.message : String(cause);
  if (text.includes(dataDir) && text.includes('set LOMBARD_DATA_DIR')) return cause as Error;
  const known = CAUSES.find(([pattern]) => pattern.test(text));
  if (!known) return cause instanceof Error ? cause : new Error(text);
  return new Error(`the data directory ${dataDir} ${known[1]}, or set LOMBARD_DATA_DIR to another directory`, {
    cause,
  });
}

/** The lines of a program's output that say why it failed. */
export function reason(output: string): string {
  const lines = output.trim().split('\n');
  const errors = lines.filter((line) => /FATAL|PANIC|ERROR|HINT|error:|could not/.test(line));
  return (errors.length > 0 ? errors : lines.slice(-1)).join('; ');
}
