import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the range that Linux and macOS use for outgoing connections, so that a restart finds its port free. */
const MIN_PORT = 20_000;
const MAX_PORT = 32_767;
const MAX_ATTEMPTS = 100;

/** A free port of 127.0.0.1: `preferred` if it is free, otherwise a random one. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred && (await isFree(preferred))) return preferred;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const port = randomInt(MIN_PORT, MAX_PORT + 1);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${MIN_PORT} and ${MAX_PORT} for the embedded PostgreSQL`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
