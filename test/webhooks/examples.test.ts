import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Delivery } from '../../src/webhooks/delivery/delivery.ts';
import { Endpoint } from '../../src/webhooks/delivery/endpoint.ts';
import { Signer } from '../../src/webhooks/delivery/signer.ts';
import { UNREAD_SETTINGS } from '../../src/webhooks/endpoint-settings.ts';
import { Egress } from '../../src/webhooks/sending/egress.ts';

/** The receivers of examples/, as programs of their own, get what the engine sends. */

const egress = new Egress({ allow: [{ address: '127.0.0.1', prefix: 32 }], timeoutMs: 5_000 });
const children: ChildProcess[] = [];
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await egress.close();
});

/** Starts a receiver on a free port; the URL it verifies is another one, as behind a proxy. */
async function start(command: string, path: string, secret: string): Promise<{ port: number; lines: string[] }> {
  const env = { PATH: process.env.PATH, WEBHOOK_URL: URL_SIGNED, WEBHOOK_SECRET: secret, PORT: '0', BRAND: 'Acme' };
  const child = spawn(command, [fileURLToPath(new URL(`../../examples/${path}`, import.meta.url))], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${path} ended: ${code}`)));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      lines.push(...text.split('\n').filter(Boolean));
      if (lines.length > 0) resolve();
    });
  });
  return { port: Number(/:(\d+)$/.exec(lines[0] ?? '')?.[1]), lines };
}

const URL_SIGNED = 'https://hooks.example.com/lombard?tenant=ä';

const VECTORS: {
  secret: string;
  url: string;
  webhook: string;
  notification_id: string;
  body: string;
  signature: string;
}[] = JSON.parse(readFileSync(new URL('../../docs/examples/notifications.json', import.meta.url), 'utf8'));

const EXAMPLES: [string, string, string][] = [
  ['Node', process.execPath, 'receiver-node/receiver.mjs'],
  ['Python', 'python3', 'receiver-python/receiver.py'],
];
for (const [language, command, path] of EXAMPLES) {
  const missing = spawnSync(command, ['--version']).status !== 0;
  test(`the receiver in ${language} takes what is signed, and nothing else`, {
    skip: missing && `${command} is not installed`,
  }, async () => {
    const { port, lines } = await start(command, path, 'sécret');
    const send = async (secret: string, delivery: Delivery) => {
      const endpoint = new Endpoint(randomUUID());
      const url = new URL(`http://127.0.0.1:${port}/lombard`);
      endpoint.apply({ ...UNREAD_SETTINGS, urlText: URL_SIGNED, url, secret });
      const attempt = { delivery, worker: 1, deliveryId: randomUUID(), startedAt: new Date() };
      return egress.send(new Signer('Acme').request(endpoint, attempt));
    };
    const delivery: Delivery = {
      id: randomUUID(),
      clientId: 'CLI000001',
      subscriptionId: randomUUID(),
      type: 'PAYMENT_STATUS_CHANGE',
      createdAt: new Date(),
      attempts: 0,
      roundAttempts: 0,
      revision: 1,
      body: '{"data":[{"beneficiary_name":"Müller 😀"}],"payment_webhook_status":["CREATED"]}',
      traceparent: null,
    };
    assert.equal((await send('sécret', delivery)).statusCode, 204);
    assert.equal((await send('sécret', { ...delivery, attempts: 1 })).statusCode, 204);
    assert.equal((await send('another', { ...delivery, id: randomUUID() })).statusCode, 401);
    const tampered = new Egress({ allow: [{ address: '127.0.0.1', prefix: 32 }], timeoutMs: 5_000 });
    const unsigned = await tampered.send({
      method: 'POST',
      url: new URL(`http://127.0.0.1:${port}/`),
      headers: [],
      body: delivery.body,
    });
    await tampered.close();
    assert.equal(unsigned.statusCode, 401);
    const told = lines.filter((line) => line.startsWith('PaymentStatusChange'));
    assert.equal(told.length, 1, 'the second attempt of the same notification is recognised');
    assert.ok(told[0]?.includes(delivery.id));
  });

  test(`the receiver in ${language} takes each of the test vectors`, {
    skip: missing && `${command} is not installed`,
  }, async () => {
    const secret = VECTORS[0]?.secret as string;
    const { port } = await start(command, path, secret);
    for (const vector of VECTORS) {
      assert.deepEqual([vector.url, vector.secret], [URL_SIGNED, secret]);
      const send = async (signature: string) => {
        const request = { method: 'POST' as const, url: new URL(`http://127.0.0.1:${port}/`), body: vector.body };
        const names = ['x-acme-signature', 'x-acme-webhook', 'x-acme-notification-id', 'x-acme-attempt-number'];
        const values = [signature, vector.webhook, vector.notification_id, '1'];
        const headers = names.flatMap((name, index) => [name, values[index] as string]);
        return (await egress.send({ ...request, headers })).statusCode;
      };
      assert.equal(await send(vector.signature), 204, vector.webhook);
      assert.equal(await send(vector.signature.replace(/.$/, (last) => (last === '0' ? '1' : '0'))), 401);
    }
  });
}
