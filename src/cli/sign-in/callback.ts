import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { fieldsOf } from '../../values/unknown.ts';
import { CommandFailure, INTERRUPTED } from '../failure.ts';

/** Milliseconds that a person has to sign in. */
const MAX_WAIT_MS = 15 * 60_000;
const PATH = '/callback';
const HEADERS = {
  'content-type': 'text/plain; charset=utf-8',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  connection: 'close',
};

/** What the redirect that ends a sign-in must contain. */
export interface Expected {
  state: string;
  /** The issuer that must answer (RFC 9207). */
  issuer: string;
}

/** The address on this machine to which the authorization server redirects (RFC 8252, 7.3), while somebody signs in. */
export class Callback {
  readonly redirectUri: string;
  readonly code: Promise<string>;
  readonly #close: () => void;

  private constructor(redirectUri: string, code: Promise<string>, close: () => void) {
    this.redirectUri = redirectUri;
    this.code = code;
    this.#close = close;
  }

  /**
   * Listens on a free port.
   * @param options `typed`: the redirected address may also be typed on standard input, from a browser on another machine; `interrupted`:
   * aborted when nobody waits any longer
   */
  static async open(expected: Expected, options: { typed: boolean; interrupted: AbortSignal }): Promise<Callback> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    promise.catch(() => {});
    const take = (address: URL): Outcome => {
      const outcome = read(address, expected);
      if (outcome.code !== undefined) resolve(outcome.code);
      else if (outcome.ends) reject(new CommandFailure(outcome.words));
      return outcome;
    };
    const server = createServer((request, response) => {
      const address = new URL(request.url ?? '/', 'http://127.0.0.1');
      const { words, code } =
        address.pathname === PATH ? take(address) : { words: 'Nothing is here.', code: undefined };
      response.writeHead(code === undefined ? 400 : 200, HEADERS);
      response.end(`${words}\n`);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const lines = options.typed ? createInterface({ input: process.stdin }) : undefined;
    lines?.on('line', (line) => {
      const text = line.trim();
      const outcome = URL.canParse(text) ? take(new URL(text)) : { words: 'That is not an address.', code: undefined };
      if (text !== '' && outcome.code === undefined) process.stderr.write(`lombard: ${outcome.words}\n`);
    });
    const timer = setTimeout(() => reject(new CommandFailure('nobody signed in within 15 minutes')), MAX_WAIT_MS);
    options.interrupted.addEventListener('abort', () => reject(new CommandFailure('interrupted', INTERRUPTED)));
    const { port } = fieldsOf(server.address());
    return new Callback(`http://127.0.0.1:${port}${PATH}`, promise, () => {
      clearTimeout(timer);
      lines?.close();
      if (lines) process.stdin.unref?.();
      server.close();
    });
  }

  close(): void {
    this.#close();
  }
}

interface Outcome {
  code?: string;
  /** For the person at the browser. */
  words: string;
  /** Whether the sign-in has failed for good. */
  ends?: boolean;
}

/** The outcome of a redirected address. An address with another state belongs to another sign-in, or is forged, and ends nothing. */
function read({ searchParams: found }: URL, { state, issuer }: Expected): Outcome {
  if (found.get('state') !== state) return { words: 'This address belongs to another sign-in.' };
  if (found.get('iss') !== issuer) return { words: 'This address comes from another authorization server.' };
  const error = found.get('error');
  if (error !== null) {
    const words = `${error}: ${found.get('error_description') ?? 'the sign-in failed'}`;
    return { words: words.replace(/\p{Cc}/gu, ' '), ends: true };
  }
  const code = found.get('code');
  if (!code) return { words: 'This address has no code.' };
  return { code, words: 'You are signed in. You can close this page and go back to the terminal.' };
}
