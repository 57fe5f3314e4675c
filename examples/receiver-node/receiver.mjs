// biome-ignore-all lint/suspicious/noConsole: an example prints for the person who runs it
// Receives Lombard's webhooks and verifies their signature with nothing but Node's own library.
//
//   WEBHOOK_URL=https://hooks.example.com/lombard WEBHOOK_SECRET=... PORT=9000 node receiver.mjs
//
// WEBHOOK_URL is the URL exactly as the subscription has it: the signature covers it. BRAND is the word in the
// X-<Brand>-... headers (LOMBARD_BRAND), by default Service.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const url = process.env.WEBHOOK_URL;
const secret = process.env.WEBHOOK_SECRET ?? '';
const brand = (process.env.BRAND ?? 'Service').toLowerCase();
const port = Number(process.env.PORT ?? 9000);
if (!url) throw new Error('WEBHOOK_URL: the URL of the subscription is needed to verify signatures');

/** A notification can come more than once. Keep this where it survives a restart, in the transaction that acts on the notification. */
const seen = new Set();

function signatureIsRight(header, body) {
  const expected = `sha3-256=${createHmac('sha3-256', secret).update(url).update(body).digest('hex')}`;
  const given = Buffer.from(header ?? '');
  return given.length === expected.length && timingSafeEqual(given, Buffer.from(expected));
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks); // the bytes as they came: verify first, then parse
    if (!signatureIsRight(request.headers[`x-${brand}-signature`], body)) {
      response.writeHead(401).end('wrong signature');
      return;
    }
    const id = request.headers[`x-${brand}-notification-id`];
    const type = request.headers[`x-${brand}-webhook`];
    if (!seen.has(id)) {
      seen.add(id);
      console.log(
        `${type} ${id} attempt ${request.headers[`x-${brand}-attempt-number`]}: ${JSON.stringify(JSON.parse(body))}`,
      );
    }
    // Any 2xx within 10 seconds is a success. Answer first, do long work afterwards.
    response.writeHead(204).end();
  });
});
server.listen(port, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
