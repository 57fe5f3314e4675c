/** What a command says when it cannot do what it was asked: one line on standard error, and its exit code. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  readonly exitCode: number;

  /** @param message empty where everything has been said @param exitCode 1: it failed; 2: it was called wrongly */
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
