import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { Receiver } from '../world/receivers/receiver.ts';
import { startTestService } from '../world/service.ts';
import { createStatementWorld, mailsOf } from '../world/statements.ts';
import { until } from '../world/until.ts';

const period = { date_from: '2026-07-01', date_to: '2026-07-31' };

async function start(t: TestContext, options: { secret?: string; environment?: Record<string, string> } = {}) {
  const receiver = await Receiver.start();
  t.after(() => receiver.stop());
  const service = await startTestService({ LOMBARD_WEBHOOK_RETRIES: '300ms,300ms,1h', ...options.environment });
  t.after(() => service.stop());
  const url = receiver.url('/statements?for=acme');
  const world = await createStatementWorld(service, ['EUR', 'GBP'], 'Acme', {
    statement_push_url: url,
    ...(options.secret === undefined ? {} : { statement_push_secret: options.secret }),
  });
  await world.book('EUR', 'CREDIT_TRANSACTION', '10.50', { booking_datetime: '2026-07-05T10:00:00Z' });
  return { receiver, service, world, url };
}

/** The signature as the specification describes it, made here on its own. */
const hmac = (secret: string, url: string, body: Buffer) =>
  `sha3-256=${createHmac('sha3-256', secret)
    .update(Buffer.concat([Buffer.from(url), body]))
    .digest('hex')}`;

for (const secret of ['key of Acme', undefined]) {
  test(`a pushed pdf is signed with ${secret === undefined ? 'the empty key' : 'the client’s key'}`, async (t) => {
    const { receiver, service, world, url } = await start(t, secret === undefined ? {} : { secret });
    const answer = await world.ask({ ...period, delivery: 'push' });
    assert.equal(answer.status, 202);
    assert.match(answer.body, /pushed/);
    const sent = await world.until('sent');
    assert.equal(receiver.received.length, 1);
    const [got] = receiver.received;
    assert.deepEqual([got?.method, got?.path], ['PUT', '/statements?for=acme']);
    assert.equal(got?.body.subarray(0, 5).toString(), '%PDF-');
    const { headers } = got!;
    assert.equal(headers['x-service-signature'], hmac(secret ?? '', url, got!.body));
    assert.equal(headers['content-type'], 'application/pdf');
    assert.equal(
      headers['content-disposition'],
      `attachment; filename="statement_${world.clientId}_2026-07-01_2026-07-31.pdf"`,
    );
    assert.equal(headers['x-service-client-id'], world.clientId);
    assert.equal(headers['x-service-notification-id'], sent.statement_id);
    assert.equal(headers['x-service-attempt-number'], '1');
    assert.match(headers['x-service-delivery-id'] ?? '', /^[0-9a-f-]{36}$/);
    assert.deepEqual(await mailsOf(service, sent.statement_id), [], 'push alone sends no mail');
  });
}

test('both: a mail, and a push for each file; each goes its own way', async (t) => {
  const { receiver, service, world } = await start(t);
  receiver.behaviour = (got, response) => {
    // The first file is refused twice, the second never.
    const refused =
      got.headers['content-disposition']?.includes('_EUR.') && Number(got.headers['x-service-attempt-number']) < 3;
    response.statusCode = refused ? 503 : 204;
    response.end();
  };
  await world.ask({ ...period, format: 'csv', delivery: 'both' });
  const sent = await world.until('sent');
  assert.deepEqual(
    sent.deliveries.map(({ channel, currency, attempts }) => [channel, currency, attempts]),
    [
      ['email', null, 1],
      ['push', 'EUR', 3],
      ['push', 'GBP', 1],
    ],
  );
  assert.equal((await mailsOf(service, sent.statement_id)).length, 1);
  const eur = receiver.received.filter(({ headers }) => headers['content-disposition']?.includes('_EUR.csv'));
  assert.equal(eur.length, 3);
  assert.ok(
    eur.every(({ body }) => body.equals(eur[0]!.body)),
    'the same bytes at every attempt',
  );
  assert.deepEqual(
    eur.map(({ headers }) => headers['x-service-notification-id']),
    Array.from({ length: 3 }, () => `${sent.statement_id}-EUR`),
  );
  assert.equal(new Set(eur.map(({ headers }) => headers['x-service-delivery-id'])).size, 3);
  const wait = eur[1]!.at - eur[0]!.at;
  assert.ok(wait > 250, `${wait} ms between the first two`);
});

test('a receiver that never takes it: the schedule of webhooks, then failed; 410 is final at once', async (t) => {
  const { receiver, service, world } = await start(t, { environment: { LOMBARD_WEBHOOK_RETRIES: '200ms,1h' } });
  receiver.behaviour = (_got, response) => void response.writeHead(307, { location: receiver.url('/elsewhere') }).end();
  await world.ask({ ...period, delivery: 'push' });
  await receiver.wait(2);
  const waiting = await world.until('retrying');
  assert.equal(waiting.deliveries[0]?.last_error, 'the receiver answered 307');
  await service.operator('PUT', '/clock', { advance_seconds: 4_000 });
  assert.equal((await world.until('failed')).deliveries[0]?.attempts, 3);
  await service.operator('DELETE', '/clock');
  assert.ok(
    receiver.received.every(({ path }) => path.startsWith('/statements')),
    'a redirect is not followed',
  );
  receiver.behaviour = (_got, response) => void response.writeHead(410).end();
  await world.ask({ ...period, delivery: 'push' });
  const gone = await world.until('failed', 'sent');
  assert.deepEqual([gone.status, gone.deliveries[0]?.attempts], ['failed', 1]);
});

test('an address that may not be dialled is not; one that is mended in between is used', async (t) => {
  const { receiver, service, world, url } = await start(t, { environment: { LOMBARD_WEBHOOK_ALLOW: '127.0.0.1/32' } });
  await service.operator('PATCH', `/clients/${world.clientId}`, {
    statement_push_url: url.replace('127.0.0.1', '127.0.0.2'),
  });
  await world.ask({ ...period, delivery: 'push' });
  const blocked = await world.until('retrying', 'failed');
  assert.equal(blocked.deliveries[0]?.last_error, 'the push failed: blocked_address');
  await service.operator('PATCH', `/clients/${world.clientId}`, { statement_push_url: url });
  assert.equal((await world.until('sent')).status, 'sent');
  assert.equal(receiver.received.length, 1);
});

test('a receiver that hangs delays neither its client’s mail nor another client', async (t) => {
  const { receiver, service, world } = await start(t, { environment: { LOMBARD_WEBHOOK_TIMEOUT: '60s' } });
  const hanging: ServerResponse[] = [];
  receiver.behaviour = (got, response) => void (got.path === '/other' ? response.end() : hanging.push(response));
  const other = await createStatementWorld(service, ['EUR'], 'Other', { statement_push_url: receiver.url('/other') });
  for (let count = 0; count < 10; count += 1) await world.ask({ ...period, delivery: 'both', format: 'csv' });
  await receiver.wait(1);
  await other.ask({ ...period, delivery: 'push' });
  await other.until('sent');
  const states = async (channel: string) =>
    (await world.list()).flatMap(({ deliveries }) =>
      deliveries.filter((each) => each.channel === channel).map(({ status }) => status),
    );
  await until(async () => {
    assert.ok(!(await states('push')).includes('retrying'), 'the mails go out while the receiver hangs');
    return (await states('email')).every((status) => status === 'sent');
  });
  assert.ok((await states('push')).every((status) => status === 'making' || status === 'requested'));
  for (const response of hanging) response.end();
});
