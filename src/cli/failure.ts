/** A command that failed: one line for standard error, and the exit code. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: number;

  /** @param message empty if it has been written already @param exitCode 1: it failed; 2: it was called wrongly */
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
