import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { endsWithin } from '../process/deadline.ts';
import { DEMO_APPLICATION } from '../sandbox/demonstration/institution.ts';
import type { Running } from './running.ts';

/** Milliseconds to wait for its first line, which says whether it listens. */
const START_TIMEOUT_MS = 3_000;

/**
 * The demonstration's sample application (examples/app), at the demonstration's redirect address. It runs in a thread, so it ends with this
 * process, however that ends. Its faults end nothing else.
 */
export class SampleApplication {
  /** Why it does not run; undefined if it does. */
  readonly fault: string | undefined;
  readonly #thread: Worker;

  private constructor(thread: Worker, fault: string | undefined) {
    this.#thread = thread;
    this.fault = fault;
  }

  /** Starts it on the origin of the redirect address. If anything fails, such as a port that is taken, the reason is in its `fault`. */
  static async start(running: Running, brand: string, redirect: string): Promise<SampleApplication> {
    const { client_id: id, client_secret: secret } = DEMO_APPLICATION;
    const thread = new Worker(new URL('../../examples/app/app.mjs', import.meta.url), {
      env: {
        ...{ API_URL: running.api, AUTH_URL: running.auth, APPLICATION_ID: id, APPLICATION_SECRET: secret },
        ...{ REDIRECT_URI: redirect, BRAND: brand },
      },
      stdout: true,
      stderr: true,
    });
    let fault: string | undefined = 'it did not start in time';
    const said = once(thread.stdout, 'data').then(([line]) => {
      fault = /\blistens on\b/.test(String(line)) ? undefined : `its port is taken, or cannot be used`;
    });
    thread.on('error', (error: Error) => {
      fault = error.message;
    });
    const ended = once(thread, 'exit').catch(() => undefined);
    await endsWithin(Promise.race([said, ended]), START_TIMEOUT_MS);
    // Its later output is of no use to the person who runs the service, and must not fill a buffer.
    thread.stdout.resume();
    thread.stderr.resume();
    return new SampleApplication(thread, fault);
  }

  async stop(): Promise<void> {
    await this.#thread.terminate();
  }
}
