import { createInterface } from 'node:readline/promises';
import { CommandFailure, INTERRUPTED } from './failure.ts';

/** Whether there is a terminal on which to ask. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true;
}

/** Asks on the terminal. The question goes to standard error. @throws CommandFailure if the person aborts (Ctrl-C, Ctrl-D) */
export async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new AbortController();
  for (const event of ['SIGINT', 'close'] as const) terminal.on(event, () => ended.abort());
  try {
    return (await terminal.question(question, { signal: ended.signal })).trim();
  } catch {
    process.stderr.write('\n');
    throw new CommandFailure('nothing was done', INTERRUPTED);
  } finally {
    terminal.close();
  }
}
