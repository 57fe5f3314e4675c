import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { after, afterEach, before, test } from 'node:test';
import { createWorld } from '../world/client.ts';
import { Receiver } from '../world/receivers/receiver.ts';
import { engineLooks } from '../world/runs.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import { later } from '../world/visitor.ts';

/** Deliveries over HTTP against the running service: what a receiver sees, and what the history says of it. */

let service: TestService;
let world: Awaited<ReturnType<typeof createWorld>>;
let token: string;
const receivers: Receiver[] = [];

before(async () => {
  service = await startTestService({ LOMBARD_WEBHOOK_RETRIES: '200ms,300ms,400ms', LOMBARD_WEBHOOK_TIMEOUT: '700ms' });
  world = await createWorld(service);
  token = await world.signIn();
});
afterEach(async () => {
  await service.query('update subscriptions set active = false, deleted_at = now() where deleted_at is null');
  for (const receiver of receivers.splice(0)) await receiver.stop();
});
after(() => service.stop());

async function receiver(...args: Parameters<typeof Receiver.start>): Promise<Receiver> {
  const made = await Receiver.start(...args);
  receivers.push(made);
  return made;
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read freely
async function graphql(query: string, variables: object = {}): Promise<any> {
  const answer = await service.client(token, 'POST', `/webhooks/graphql?client_id=${world.clientId}`, {
    body: { query, variables },
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.errors, undefined, answer.text);
  return answer.body.data;
}

async function subscribe(url: string, more: object = {}): Promise<string> {
  const data = await graphql(
    'mutation ($input: CreateSubscriptionInput!) { createSubscription(input: $input) { subscription { id } } }',
    { input: { subscription: { url, types: ['PAYMENT_STATUS_CHANGE'], active: true, ...more } } },
  );
  return data.createSubscription.subscription.id;
}

async function patch(id: string, change: object): Promise<void> {
  await graphql(
    'mutation ($input: UpdateSubscriptionInput!) { updateSubscription(input: $input) { subscription { id } } }',
    {
      input: { id, patch: change },
    },
  );
}

const ping = (id: string) =>
  service.client(token, 'POST', `/webhooks/ping/${id}`, { headers: { 'x-client-id': world.clientId } });

/** The notifications of a subscription, oldest first, once they fulfil a condition. */
// biome-ignore lint/suspicious/noExplicitAny: answers are read freely
async function history(id: string, wanted: (rows: any[]) => boolean): Promise<any[]> {
  // biome-ignore lint/suspicious/noExplicitAny: answers are read freely
  let rows: any[] = [];
  const look = async () => {
    const { status, text, body } = await service.operator('GET', `/notifications?subscription_id=${id}`);
    assert.equal(status, 200, text);
    rows = body.reverse();
    return wanted(rows) && rows;
  };
  return until(look, { what: `a history with ${wanted}`, seen: () => rows });
}
/** Creates a payment, and waits until its two events are sent to whom they go to, and the engine has looked again for what is due. */
async function payAndSend(): Promise<void> {
  const other = await receiver();
  const id = await subscribe(other.url());
  await world.pay();
  await other.wait(2);
  await engineLooks(() => service.service.context.activity.stirAll());
  await patch(id, { active: false });
}

/** Waits until the engine knows how a subscription is now, and has no request to it in flight. */
async function nothingUnderWay(id: string): Promise<void> {
  await engineLooks(() => service.service.context.activity.stirAll());
  const leased = 'select from webhook_queue where subscription_id = $1 and lease_owner is not null';
  await until(async () => (await service.query(leased, [id])).rowCount === 0);
}

const finished = (count: number) => (rows: { status: string }[]) =>
  rows.filter((row) => row.status !== 'pending').length >= count;

test('a payment is announced with every header, signed over URL and body', async () => {
  const to = await receiver();
  const url = to.url('/hook?a=1&b=%20x');
  const secret = 'a secret with ünicode';
  const id = await subscribe(url, { secret, extraHeaders: [{ name: 'x-tenant', value: 'eins' }] });
  const payment = await world.pay();
  assert.equal(payment.status, 201, payment.text);
  const [created, authorised] = await to.wait(2);
  assert.ok(created && authorised);
  for (const got of [created, authorised]) {
    const body = got.body.toString();
    assert.equal(got.method, 'POST');
    assert.equal(got.path, '/hook?a=1&b=%20x');
    assert.equal(got.headers['content-type'], 'application/json');
    assert.equal(got.headers['x-service-client-id'], world.clientId);
    assert.equal(got.headers['x-service-webhook'], 'PaymentStatusChange');
    assert.equal(got.headers['x-service-attempt-number'], '1');
    assert.equal(got.headers['x-tenant'], 'eins');
    assert.match(got.headers['x-service-delivery-id'] ?? '', /^[0-9a-f-]{36}$/);
    assert.equal(
      got.headers['x-service-signature'],
      `sha3-256=${createHmac('sha3-256', secret)
        .update(url + body)
        .digest('hex')}`,
    );
    const { 'webhook-id': webhookId, 'webhook-timestamp': timestamp } = got.headers;
    assert.equal(webhookId, got.headers['x-service-notification-id']);
    assert.ok(Math.abs(Number(timestamp) - Date.now() / 1000) < 5);
    const standard = createHmac('sha256', secret).update(`${webhookId}.${timestamp}.${body}`).digest('base64');
    assert.equal(got.headers['webhook-signature'], `v1,${standard}`);
    const content = JSON.parse(body);
    assert.equal(content.data.length, 1);
    assert.equal(content.data[0].payment_id, payment.body.payment_id);
    assert.equal(content.payment_webhook_status.length, 1);
  }
  assert.deepEqual(
    [created, authorised].map((got) => JSON.parse(got.body.toString()).payment_webhook_status[0]).sort(),
    ['AUTHORIZED', 'CREATED'],
  );
  assert.ok(created.rawHeaders.includes('X-Service-Notification-Id'));
  const rows = await history(id, finished(2));
  assert.deepEqual(
    rows.map((row) => [row.type, row.status, row.attempts.length, row.attempts[0].status_code, row.attempts[0].body]),
    [
      ['PAYMENT_STATUS_CHANGE', 'delivered', 1, 200, 'ok'],
      ['PAYMENT_STATUS_CHANGE', 'delivered', 1, 200, 'ok'],
    ],
  );
  const kept = rows.find((row) => row.id === created.headers['x-service-notification-id']);
  assert.equal(kept.body, created.body.toString());
  assert.equal(kept.attempts[0].delivery_id, created.headers['x-service-delivery-id']);
});

test('without a secret the key is the empty text', async () => {
  const to = await receiver();
  const id = await subscribe(to.url());
  assert.equal((await ping(id)).status, 204);
  const [got] = await to.wait(1);
  const expected = createHmac('sha3-256', '')
    .update(to.url() + got?.body.toString())
    .digest('hex');
  assert.equal(got?.headers['x-service-signature'], `sha3-256=${expected}`);
});

test('a ping reaches an inactive subscription, is signed, kept, and answered at once whatever the receiver does', async () => {
  const to = await receiver(() => undefined);
  const id = await subscribe(to.url(), { active: false, types: [] });
  await ping(id);
  const answer = await ping(id);
  assert.equal(answer.status, 204);
  assert.equal(answer.text, '');
  // The receiver hangs: had the answer waited for it, its attempt would be over. bench/webhooks.ts measures how fast it is.
  assert.equal((await history(id, (all) => all.length === 2))[1].status, 'pending');
  await to.wait(2);
  assert.equal(to.received[0]?.headers['x-service-webhook'], 'Ping');
  JSON.parse(to.received[0]?.body.toString() ?? '');
  const rows = await history(id, (all) => all.length === 2 && all.every((row) => row.attempts.length >= 1));
  assert.deepEqual(
    [rows[0].type, rows[0].attempts[0].reason, rows[0].attempts[0].status_code],
    ['PING', 'timeout', null],
  );
  assert.equal(
    (await service.client(token, 'POST', `/webhooks/ping/${randomUUID()}?client_id=${world.clientId}`)).status,
    404,
  );
  assert.equal(
    (await service.client(token, 'POST', `/webhooks/ping/nonsense?client_id=${world.clientId}`)).body.code,
    'subscription_not_found',
  );
});

test('another client cannot ping a subscription', async () => {
  const to = await receiver();
  const id = await subscribe(to.url());
  const other = await createWorld(service, 'Other');
  const otherToken = await other.signIn();
  const answer = await service.client(otherToken, 'POST', `/webhooks/ping/${id}?client_id=${other.clientId}`);
  assert.deepEqual([answer.status, answer.body.code], [404, 'subscription_not_found']);
});

test('a failed notification is tried again with the same id and bytes, and given up after the last wait', async () => {
  const to = await receiver((_got, response) => {
    response.statusCode = 500;
    response.setHeader('x-much', 'm'.repeat(17 * 1024));
    response.setHeader('x-why', 'no');
    response.end('broken');
  });
  const id = await subscribe(to.url());
  await ping(id);
  const got = await to.wait(4);
  const rows = await history(id, finished(1));
  assert.equal(got.length, 4);
  assert.equal(new Set(got.map((one) => one.headers['x-service-notification-id'])).size, 1);
  assert.equal(new Set(got.map((one) => one.headers['x-service-delivery-id'])).size, 4);
  assert.equal(new Set(got.map((one) => one.body.toString('hex'))).size, 1);
  assert.deepEqual(
    got.map((one) => one.headers['x-service-attempt-number']),
    ['1', '2', '3', '4'],
  );
  const waits = got.slice(1).map((one, index) => one.at - (got[index]?.at ?? 0));
  for (const [index, wait] of [200, 300, 400].entries()) {
    const actual = waits[index] ?? 0;
    assert.ok(actual >= wait * 0.88 && actual < wait * 1.1 + 700, `wait ${index}: ${actual} ms of ${wait}`);
  }
  assert.equal(rows[0].status, 'failed');
  assert.deepEqual(
    rows[0].attempts.map((attempt: { status_code: number; body: string }) => [attempt.status_code, attempt.body]),
    Array(4).fill([500, 'broken']),
  );
  const { headers } = rows[0].attempts[0];
  assert.deepEqual([headers['x-why'], headers['x-much']], ['no', undefined]);

  to.behaviour = (_got, response) => void response.end('at last');
  const again = await service.operator('POST', `/notifications/${rows[0].id}/redeliver`);
  assert.deepEqual([again.status, again.body], [202, { count: 1 }]);
  const fifth = (await to.wait(5))[4];
  assert.equal(fifth?.headers['x-service-attempt-number'], '5');
  assert.equal(fifth?.body.toString(), got[0]?.body.toString());
  await history(id, (all) => all[0].status === 'delivered' && all[0].attempts.length === 5);
});

test('Retry-After takes the place of the wait', async () => {
  const to = await receiver((_got, response) => {
    response.statusCode = to.received.length === 1 ? 503 : 200;
    response.setHeader('retry-after', '1');
    response.end();
  });
  await ping(await subscribe(to.url()));
  const got = await to.wait(2);
  const wait = (got[1]?.at ?? 0) - (got[0]?.at ?? 0);
  assert.ok(wait >= 990, `${wait} ms`);
});

test('410 switches the subscription off; what comes meanwhile is kept, and sent when it is active again or replayed', async () => {
  const to = await receiver((_got, response) => {
    response.statusCode = 410;
    response.end();
  });
  const id = await subscribe(to.url());
  await ping(id);
  await to.wait(1);
  const listed = async () =>
    (await service.operator('GET', `/subscriptions?client_id=${world.clientId}`)).body.find(
      (one: { id: string }) => one.id === id,
    );
  await until(async () => !(await listed()).active);
  assert.equal((await listed()).disabled_reason, 'gone');
  assert.equal((await history(id, finished(1)))[0].status, 'failed');

  const since = new Date(Date.now() - 1_000).toISOString();
  await payAndSend();
  assert.equal(to.received.length, 1, 'an inactive subscription gets nothing');
  to.behaviour = (_got, response) => void response.end();
  await patch(id, { active: true });
  const replayed = await service.operator('POST', `/subscriptions/${id}/replay`, { since });
  assert.equal(replayed.status, 202);
  assert.ok(replayed.body.count >= 2, replayed.text);
  const got = await to.wait(1 + replayed.body.count);
  assert.equal(got[1]?.headers['x-service-webhook'], 'PaymentStatusChange');
  const once = await service.operator('POST', `/subscriptions/${id}/replay`, { since, only_failed: true });
  assert.deepEqual(once.body, { count: 0 });
});

test('a subscription without types is the same as a disabled one: its retries stop too', async () => {
  const to = await receiver((_got, response) => void response.writeHead(500).end());
  const id = await subscribe(to.url());
  await world.pay();
  await to.wait(2);
  await patch(id, { types: [] });
  await nothingUnderWay(id);
  const before = to.received.length;
  // By then every retry would be due.
  await later(service, 10, payAndSend);
  assert.equal(to.received.length, before);
  to.behaviour = (_got, response) => void response.end();
  await patch(id, { types: ['PAYMENT_STATUS_CHANGE'] });
  await history(id, (rows) => rows.length === 2 && rows.every((row) => row.status === 'delivered'));
});

test('a redirect is a failure and is not followed', async () => {
  const elsewhere = await receiver();
  const to = await receiver((_got, response) => {
    response.writeHead(302, { location: elsewhere.url() });
    response.end();
  });
  const id = await subscribe(to.url());
  await ping(id);
  await to.wait(2);
  const rows = await history(id, (all) => all[0]?.attempts.length >= 1);
  assert.deepEqual([rows[0].attempts[0].status_code, rows[0].status === 'delivered'], [302, false]);
  assert.equal(elsewhere.received.length, 0);
});

test('a receiver that hangs slows no other, and never sees more than the cap at once', async () => {
  let open = 0;
  let most = 0;
  const hanging = await receiver((_got, response) => {
    open += 1;
    most = Math.max(most, open);
    response.on('close', () => {
      open -= 1;
    });
  });
  const quick = await receiver();
  const slow = await subscribe(hanging.url());
  await subscribe(quick.url());
  for (let batch = 0; batch < 8; batch += 1) {
    const pings = Array.from({ length: 10 }, () => ping(slow));
    assert.ok((await Promise.all(pings)).every((answer) => answer.status === 204));
  }
  await world.pay();
  await quick.wait(2);
  // Behind the hanging one, whose 80 wait 700 ms in waves of 16, the payment would come later.
  assert.ok(hanging.received.length < 80, `${hanging.received.length} were sent before`);
  await hanging.wait(20);
  assert.ok(most <= 16, `${most} requests at once`);
  assert.ok(most >= 12, `${most} requests at once`);
});

test('deleting a subscription stops what is pending; the history stays', async () => {
  const to = await receiver((_got, response) => {
    response.statusCode = 500;
    response.end();
  });
  const id = await subscribe(to.url());
  await world.pay();
  await to.wait(2);
  await graphql(
    'mutation ($input: DeleteSubscriptionInput!) { deleteSubscription(input: $input) { subscription { id } } }',
    { input: { id } },
  );
  const rows = await history(
    id,
    (all) => all.length === 2 && all.every((row) => row.status === 'cancelled' || row.status === 'failed'),
  );
  await nothingUnderWay(id);
  const count = to.received.length;
  await later(service, 10, payAndSend);
  assert.equal(to.received.length, count);
  assert.ok(rows.every((row) => row.attempts.length >= 1));
  const gone = await service.operator('POST', `/notifications/${rows[0].id}/redeliver`);
  assert.deepEqual([gone.status, gone.body.code], [404, 'subscription_not_found']);
});

test('a secret is replaced with an overlap: both sign the standard header, the new one the own header', async () => {
  const to = await receiver();
  const id = await subscribe(to.url(), { secret: 'old' });
  await patch(id, { secret: 'new', previousSecretSeconds: 60 });
  await ping(id);
  const [got] = await to.wait(1);
  const body = got?.body.toString() ?? '';
  assert.equal(
    got?.headers['x-service-signature'],
    `sha3-256=${createHmac('sha3-256', 'new')
      .update(to.url() + body)
      .digest('hex')}`,
  );
  const signed = ['new', 'old'].map(
    (secret) =>
      `v1,${createHmac('sha256', secret).update(`${got?.headers['webhook-id']}.${got?.headers['webhook-timestamp']}.${body}`).digest('base64')}`,
  );
  assert.equal(got?.headers['webhook-signature'], signed.join(' '));
});

test('five days of nothing but failures switch a subscription off, by the clock of the service', async () => {
  const to = await receiver((_got, response) => {
    response.statusCode = 500;
    response.end();
  });
  const id = await subscribe(to.url());
  await ping(id);
  const found = (text: string) => until(async () => (await service.query(text, [id])).rows[0], { what: text });
  await found('select from webhook_endpoints where subscription_id = $1 and failing_since is not null');
  await history(id, finished(1));
  const moved = await service.operator('PUT', '/clock', { advance_seconds: 5 * 86_400 });
  assert.equal(moved.status, 200, moved.text);
  try {
    token = await world.signIn();
    await ping(id);
    const { disabled_reason } = await found('select disabled_reason from subscriptions where id = $1 and not active');
    assert.equal(disabled_reason, 'failing');
  } finally {
    await service.operator('DELETE', '/clock');
    token = await world.signIn();
  }
});
