import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endWithTests, removeWithTests } from './leftovers.ts';
import { until } from './until.ts';

/** Debian's Firefox, driven by WebDriver BiDi (W3C). Playwright only drives its own Firefox, which it would download. */

const FIREFOX = ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => existsSync(path));
/** For `test(name, { skip }, ...)`. */
export const skipFirefox: string | false = FIREFOX === undefined && 'no Firefox on this machine';

const PATIENCE_MS = 30_000;
const ENTER = '\uE007';

interface Answer {
  id?: number;
  type: string;
  error?: string;
  message?: string;
  // biome-ignore lint/suspicious/noExplicitAny: what a command answers depends on the command
  result?: any;
}

/** A window of a Firefox started for the test. */
export class Firefox {
  readonly #process: ChildProcess;
  readonly #profile: string;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #sent = 0;
  #context = '';

  private constructor(process: ChildProcess, profile: string, socket: WebSocket) {
    this.#process = process;
    this.#profile = profile;
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const answer = JSON.parse(String(data)) as Answer;
      if (answer.id !== undefined) this.#waiting.get(answer.id)?.(answer);
    });
  }

  static async start(): Promise<Firefox> {
    const profile = removeWithTests(mkdtempSync(join(tmpdir(), 'lombard-firefox-')));
    const flags = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', 'about:blank'];
    const process = endWithTests(spawn(FIREFOX as string, flags, { stdio: ['ignore', 'ignore', 'pipe'] }));
    let address: string | undefined;
    for await (const line of createInterface({ input: process.stderr as NodeJS.ReadableStream })) {
      address = /WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1];
      if (address) break;
    }
    process.stderr?.resume();
    const socket = new WebSocket(`${address}/session`);
    await once(socket, 'open');
    const firefox = new Firefox(process, profile, socket);
    await firefox.#send('session.new', { capabilities: {} });
    firefox.#context = (await firefox.#send('browsingContext.getTree', {})).contexts[0].context;
    return firefox;
  }

  async open(url: string): Promise<void> {
    await this.#send('browsingContext.navigate', { context: this.#context, url, wait: 'complete' });
  }

  /** Waits until an expression of the page is true. */
  async until(expression: string): Promise<void> {
    const holds = () => this.evaluate(`Boolean(${expression})`).catch(() => false);
    await until(holds, { what: expression, seconds: PATIENCE_MS / 1_000 });
  }

  /** The value of an expression in the page: a text, a number or a boolean. */
  async evaluate(expression: string): Promise<unknown> {
    const { type, result, exceptionDetails } = await this.#send('script.evaluate', {
      expression,
      target: { context: this.#context },
      awaitPromise: true,
    });
    if (type === 'exception') throw new Error(exceptionDetails.text);
    return result.value;
  }

  /** Types keys into the focused element, like a person. */
  async type(text: string): Promise<void> {
    const actions = [...text].flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]);
    await this.#send('input.performActions', {
      context: this.#context,
      actions: [{ type: 'key', id: 'keys', actions }],
    });
  }

  /** Fills in a field. */
  async fill(selector: string, text: string): Promise<void> {
    await this.until(`document.querySelector('${selector}')`);
    await this.evaluate(`document.querySelector('${selector}').focus()`);
    await this.type(text);
  }

  /** Presses a button with the keyboard. @param name the exact name */
  async press(name: string): Promise<void> {
    const found = `[...document.querySelectorAll('button')].findLast((each) => each.textContent.trim() === '${name}' && !each.disabled)`;
    await this.until(found);
    await this.evaluate(`${found}.focus()`);
    await this.type(ENTER);
  }

  enter(): Promise<void> {
    return this.type(ENTER);
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'exit');
    await this.#send('browser.close', {}).catch(() => {});
    this.#socket.close();
    const force = setTimeout(() => this.#process.kill('SIGKILL'), 5_000);
    await ended;
    clearTimeout(force);
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  async #send(method: string, params: object): Promise<any> {
    this.#sent += 1;
    const id = this.#sent;
    const answer = new Promise<Answer>((resolve, reject) => {
      this.#waiting.set(id, resolve);
      setTimeout(() => reject(new Error(`${method}: no answer`)), PATIENCE_MS).unref();
    });
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { type, error, message, result } = await answer.finally(() => this.#waiting.delete(id));
    if (type === 'error') throw new Error(`${method}: ${error}: ${message}`);
    return result;
  }
}
