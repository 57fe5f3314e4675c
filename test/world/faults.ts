import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { LombardError } from '../../sdk/src/index.ts';
import { listening } from './ports.ts';

/** A request that was received completely. */
export interface Seen {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: string;
}

/** The reaction to one request: a status with a body and headers, or something worse. */
export type Fault = (response: ServerResponse, seen: Seen) => void;

/** @param body sent as JSON unless it is a text */
export function answer(status: number, body?: unknown, headers: Record<string, string> = {}): Fault {
  return (response) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const type = typeof body === 'string' ? 'text/html' : 'application/json';
    response.writeHead(status, { ...(body === undefined ? {} : { 'content-type': type }), ...headers });
    response.end(body === undefined ? undefined : text);
  };
}

/** The connection ends without an answer. */
export const cut: Fault = (response) => response.destroy();

/** The connection ends in the middle of the body. */
export const cutBody: Fault = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"payment_id": ', () => response.destroy());
};

/** No answer comes. */
export const silence: Fault = () => {};

/** A server that answers each request with the next fault; the last fault repeats. */
export async function startFaultServer(...faults: Fault[]) {
  const seen: Seen[] = [];
  let served = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const url = new URL(request.url ?? '/', 'http://localhost');
    const { method = '', headers } = request;
    const one = {
      method,
      path: url.pathname,
      query: url.searchParams,
      headers,
      body: Buffer.concat(chunks).toString(),
    };
    seen.push(one);
    const fault = faults[Math.min(served, faults.length - 1)];
    served += 1;
    fault?.(response, one);
  });
  return {
    url: `http://127.0.0.1:${await listening(server)}`,
    seen,
    /** Replaces the faults from now on. */
    script(...next: Fault[]): void {
      faults.splice(0, faults.length, ...next);
      served = 0;
      seen.length = 0;
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export type FaultServer = Awaited<ReturnType<typeof startFaultServer>>;

/** The error that a call of the SDK rejected with. */
export async function failure(work: Promise<unknown>): Promise<LombardError> {
  const error = await work.then(
    () => assert.fail('was not refused'),
    (caught) => caught,
  );
  assert.ok(error instanceof LombardError, String(error));
  return error;
}
