const closed = new AbortController();

/** Aborted once the reader has closed standard output, as `head` does. */
export const outputClosed: AbortSignal = closed.signal;

/** The reader has closed the output, so there is nobody to go on for. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed';
}

/**
 * Handles a reader that closes the output. This ends no command with an error, and never ends the service. A command that goes on checks
 * `outputClosed`, or gets `OutputClosed` at its next `write`. Any other failure, such as a full disk, ends the process.
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
  // There is nobody left to tell.
  process.stderr.on('error', () => {});
}

/**
 * Writes to standard output, and resolves once it has been accepted.
 * @throws OutputClosed
 */
export function write(content: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    if (closed.signal.aborted) reject(new OutputClosed());
    else process.stdout.write(content, (error) => (error ? reject(new OutputClosed()) : resolve()));
  });
}
