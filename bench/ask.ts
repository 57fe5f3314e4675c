import type { ChildProcess } from 'node:child_process';

/**
 * The next answer of a bench's child process.
 * @param message the question, if any
 * @throws Error if the process ends first
 */
// biome-ignore lint/suspicious/noExplicitAny: two kinds of answers from the bench's own child
export function ask(child: ChildProcess, message?: string): Promise<any> {
  return new Promise((resolve, reject) => {
    const gone = () => reject(new Error('the service ended'));
    child.once('exit', gone);
    child.once('message', (answer) => {
      child.off('exit', gone);
      resolve(answer);
    });
    if (message) child.send(message);
  });
}
