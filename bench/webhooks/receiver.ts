/** The receiver of the webhook bench, a process of its own: answers 200, notes when each event came, never answers on /hang. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let arrived: [number, number][] = [];
let count = 0;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (request.url?.startsWith('/hang')) return;
    count += 1;
    // The number of the event stands at the beginning of the body: {"n":123,...
    const at = Number(process.hrtime.bigint() / 1_000n);
    const body = chunks[0]?.subarray(5, 20).toString('latin1') ?? '';
    arrived.push([Number.parseInt(body, 10), at]);
    response.end('ok');
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', (message) => {
  if (message === 'take') {
    process.send?.({ arrived });
    arrived = [];
    count = 0;
  } else if (message === 'count') process.send?.({ count });
});
process.on('disconnect', () => process.exit(0));
