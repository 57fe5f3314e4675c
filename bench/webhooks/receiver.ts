/**
 * The receiver of the webhook bench, in its own process. It answers 200, records when each event arrived, and never answers on /hang.
 * Because it shares the machine with what is measured, it reads only what it needs, from the bare connection. That takes a third of
 * node:http's time.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net';

const ANSWER =
  'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: keep-alive\r\nkeep-alive: timeout=60\r\ncontent-length: 2\r\n\r\nok';
const END_OF_HEADERS = '\r\n\r\n';
const LENGTH = 'content-length: ';

let arrived: [number, number][] = [];
let count = 0;

/** Answers all complete requests in order; returns the rest. */
function answer(socket: Socket, received: Buffer): Buffer {
  let rest = received;
  for (;;) {
    const headersEnd = rest.indexOf(END_OF_HEADERS);
    if (headersEnd < 0) return rest;
    const body = headersEnd + END_OF_HEADERS.length;
    const length = rest.toString('latin1', rest.indexOf(LENGTH) + LENGTH.length, headersEnd);
    const end = body + Number.parseInt(length, 10);
    if (rest.length < end) return rest;
    if (rest.toString('latin1', 0, 10) !== 'POST /hang') {
      count += 1;
      // The body begins with the number of the event: {"n":123,...
      const number = Number.parseInt(rest.toString('latin1', body + 5, body + 20), 10);
      arrived.push([number, Number(process.hrtime.bigint() / 1_000n)]);
      socket.write(ANSWER);
    }
    rest = rest.subarray(end);
  }
}

const server = createServer({ noDelay: true }, (socket) => {
  let pending: Buffer | undefined;
  socket.on('data', (chunk) => {
    const rest = answer(socket, pending ? Buffer.concat([pending, chunk]) : chunk);
    pending = rest.length > 0 ? rest : undefined;
  });
  socket.on('error', () => socket.destroy());
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', (message) => {
  if (message === 'take') {
    process.send?.({ arrived });
    arrived = [];
    count = 0;
  } else if (message === 'count') process.send?.({ count });
});
process.on('disconnect', () => process.exit(0));
