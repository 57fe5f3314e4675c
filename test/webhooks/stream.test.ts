import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { verifyNotification } from '../../sdk/src/index.ts';
import { EventSourceReader } from '../../src/cli/event-source.ts';
import { createSubscriber } from '../world/graphql.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

interface Streamed {
  id: string;
  headers: Record<string, string>;
  body: string;
}

describe('subscriptions with delivery STREAM', () => {
  let service: TestService;
  let world: Awaited<ReturnType<typeof createSubscriber>>;
  before(async () => {
    service = await startTestService();
    world = await createSubscriber(service);
  });
  after(() => service.stop());

  const streamed = (fields: object = {}) =>
    world.subscribe({ url: undefined, delivery: 'STREAM', types: ['PAYMENT_STATUS_CHANGE'], active: true, ...fields });

  async function open(id: string, options: { after?: string; token?: string } = {}) {
    const aborted = new AbortController();
    const answer = await fetch(`${service.api}/webhooks/stream?client_id=${world.clientId}&subscription_id=${id}`, {
      headers: {
        authorization: `Bearer ${options.token ?? world.token}`,
        ...(options.after === undefined ? {} : { 'last-event-id': options.after }),
      },
      signal: aborted.signal,
    });
    if (!answer.ok) return { status: answer.status, body: (await answer.json()) as { code: string; details: string } };
    const reader = new EventSourceReader();
    const events = reader.read(answer.body as AsyncIterable<Uint8Array>);
    return {
      status: 200,
      reader,
      close: () => aborted.abort(),
      next: async (): Promise<Streamed> => JSON.parse((await events.next()).value?.data ?? 'null'),
      ended: async () => (await events.next()).done,
    };
  }
  const opened = async (...parameters: Parameters<typeof open>) => {
    const stream = await open(...parameters);
    if (!('next' in stream)) throw new Error(JSON.stringify(stream));
    return stream as Required<Extract<Awaited<ReturnType<typeof open>>, { reader?: unknown }>>;
  };

  test('it begins with what is pending, signed for the address of the stream; nothing is dialled', async () => {
    const id = await streamed({ secret: 'whsec_c2VjcmV0', extraHeaders: [{ name: 'x-team', value: 'a' }] });
    await world.pay({ reference: 'first' });
    const stream = await opened(id);
    const one = await stream.next();
    assert.equal(one.headers['X-Service-Webhook'], 'PaymentStatusChange');
    assert.equal(one.headers['x-team'], 'a');
    const verified = await verifyNotification({
      url: `${service.api}/webhooks/stream`,
      headers: one.headers,
      body: one.body,
      secret: 'whsec_c2VjcmV0',
    });
    assert.deepEqual([verified.id, verified.type], [one.id, 'PAYMENT_STATUS_CHANGE']);
    stream.close();
    const { body } = await service.operator('GET', `/notifications/${one.id}`);
    assert.deepEqual([body.status, body.attempts.length], ['delivered', 1]);
  });

  test('behind a cursor nothing is missed and nothing comes twice; the order is that of the events', async () => {
    const id = await streamed();
    const stream = await opened(id);
    await world.pay({ payment_id: 'PAY-A' });
    const first = await stream.next();
    const cursor = stream.reader.lastId as string;
    stream.close();
    for (const payment_id of ['PAY-B', 'PAY-C']) await world.pay({ payment_id });
    const again = await opened(id, { after: cursor });
    const rest = [];
    for (let n = 0; n < 5; n += 1) rest.push(await again.next());
    const told = [first, ...rest].map(({ body }) => {
      const { data, payment_webhook_status } = JSON.parse(body);
      return `${data[0].payment_id} ${payment_webhook_status[0]}`;
    });
    assert.deepEqual(
      told,
      ['PAY-A', 'PAY-B', 'PAY-C'].flatMap((one) => [`${one} CREATED`, `${one} AUTHORIZED`]),
    );
    again.close();
    const same = await opened(id, { after: cursor });
    assert.equal((await same.next()).id, rest[0]?.id);
    same.close();
  });

  test('the newest reader takes the stream over; pings come too', async () => {
    const id = await streamed({ active: false });
    const old = await opened(id);
    const fresh = await opened(id);
    assert.equal(await old.ended(), true);
    const ping = await service.client(world.token, 'POST', `/webhooks/ping/${id}?client_id=${world.clientId}`);
    assert.equal(ping.status, 204);
    assert.equal((await fresh.next()).headers['X-Service-Webhook'], 'Ping');
    fresh.close();
  });

  test('refusals', async () => {
    const id = await streamed();
    const dialled = await world.subscribe();
    const cases: [string, object, number, RegExp][] = [
      ['00000000-0000-4000-8000-000000000000', {}, 404, /subscription_id/],
      [dialled, {}, 400, /delivery STREAM/],
      [id, { after: 'nonsense' }, 400, /Last-Event-ID/],
      [id, { after: `${id}.99` }, 400, /Last-Event-ID/],
      [id, { after: `${dialled}.0` }, 400, /Last-Event-ID/],
      [id, { token: world.readerToken }, 403, /can_manage_webhooks/],
    ];
    for (const [subscription, options, status, details] of cases) {
      const refused = await open(subscription, options);
      assert.equal(refused.status, status);
      assert.match('body' in refused ? (refused.body?.details ?? '') : '', details);
    }
    const create =
      'mutation ($subscription: SubscriptionInput!) { createSubscription(input: {subscription: $subscription}) { subscription { id } } }';
    for (const subscription of [{ types: [] }, { types: [], delivery: 'STREAM', url: 'https://a.example' }]) {
      const refused = await world.graphql(create, { subscription });
      assert.match(refused.errors?.[0].message, /url: (is required|must be left out)/);
    }
  });

  test('a client has ten at once, also of those that are opened at the same moment', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, () => streamed()));
    const answers = await Promise.all(ids.map((id) => open(id)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(10).fill(200), 429, 429]);
    for (const answer of answers) if ('close' in answer) answer.close?.();
  });

  test('one that nobody has read for ten minutes is removed', async () => {
    const [unread, read] = [await streamed(), await streamed()];
    const stream = await opened(read);
    await service.operator('PUT', '/clock', { advance_seconds: 700 });
    const remaining = await until(
      async () => {
        const { data } = await world.graphql('{ subscriptions { nodes { id } } }');
        const ids = data.subscriptions.nodes.map((one: { id: string }) => one.id);
        return ids.includes(unread) ? undefined : ids;
      },
      { seconds: 60 },
    );
    assert.ok(remaining.includes(read));
    stream.close();
    await service.operator('DELETE', '/clock');
  });
});
