/**
 * The reference for the engine: a bare loop of undici POSTs in its own process. The requests are those of the engine, with the same headers
 * and both signatures, made with the library's HMAC. Arguments: port, number of requests, concurrent requests, length of the padding. Sends
 * its rate.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { Pool } from 'undici';

const [port = '', count = '0', atOnce = '1', padding = '0'] = process.argv.slice(2);
const origin = `http://127.0.0.1:${port}`;
const pool = new Pool(origin, { connections: Number(atOnce), pipelining: 1 });
const pad = 'x'.repeat(Number(padding));
let next = 0;

async function loop(): Promise<void> {
  while (next < Number(count)) {
    next += 1;
    const path = `/c${next % 20}`;
    const body = JSON.stringify({ n: next, pad });
    const notification = randomUUID();
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const response = await pool.request({
      path,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Service-Webhooks/1',
        'X-Service-Client-Id': 'CLI1',
        'X-Service-Signature': `sha3-256=${createHmac('sha3-256', 'secret')
          .update(origin + path)
          .update(body)
          .digest('hex')}`,
        'X-Service-Webhook': 'PaymentStatusChange',
        'X-Service-Notification-Id': notification,
        'X-Service-Delivery-Id': randomUUID(),
        'X-Service-Attempt-Number': '1',
        'webhook-id': notification,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${createHmac('sha256', 'secret')
          .update(`${notification}.${timestamp}.`)
          .update(body)
          .digest('base64')}`,
      },
      body,
    });
    await response.body.text();
  }
}

await Promise.all(Array.from({ length: 32 }, loop));
const began = performance.now();
next = 0;
await Promise.all(Array.from({ length: Number(atOnce) }, loop));
process.send?.({ rate: Number(count) / ((performance.now() - began) / 1_000) });
await pool.close();
process.disconnect?.();
