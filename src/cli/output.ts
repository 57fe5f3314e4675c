const closed = new AbortController();

/** Aborted once the reader of standard output has closed it, as `head` does. */
export const outputClosed: AbortSignal = closed.signal;

/** The reader of the output has closed it: there is nobody to go on for. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed';
}

/**
 * A reader that closes the output ends no command with an error, and the service not at all. A command that goes on asks
 * `outputClosed`, or meets `OutputClosed` at its next `write`. Any other failure, such as a full disk, ends the process.
 */
export function watchOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || closed.signal.aborted) {
      closed.abort();
      return;
    }
    process.stderr.write(`lombard: cannot write the output: ${error.message}\n`);
    process.exit(1);
  });
  // Nobody is left who could be told.
  process.stderr.on('error', () => {});
}

/**
 * Writes to standard output, and resolves once it has been taken.
 * @throws OutputClosed
 */
export function write(content: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    if (closed.signal.aborted) reject(new OutputClosed());
    else process.stdout.write(content, (error) => (error ? reject(new OutputClosed()) : resolve()));
  });
}
