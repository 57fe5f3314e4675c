import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { MAX_STREAMS_PER_CLIENT, MAX_STREAMS_PER_CONTACT } from '../../../src/http/graphql/event-stream.ts';
import { accessToken } from '../../world/access-token.ts';
import { isOnWorkers, ON_WORKERS } from '../../world/cells.ts';
import { createSubscriber } from '../../world/graphql.ts';
import { startTestService, type TestService } from '../../world/service.ts';
import { until } from '../../world/until.ts';

interface StreamEvent {
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: each test decides what it reads of an event
  data: any;
}

/** Opens an event stream and collects what it says. */
async function openStream(service: TestService, path: string, token: string) {
  const abort = new AbortController();
  const response = await fetch(`${service.api}${path}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: abort.signal,
  });
  const events: StreamEvent[] = [];
  let ended = false;
  const reading = (async () => {
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        const event = /^event: (.*)$/m.exec(part)?.[1];
        if (event) events.push({ event, data: JSON.parse(/^data: (.*)$/m.exec(part)?.[1] ?? 'null') });
      }
    }
  })()
    .catch(() => undefined)
    .finally(() => {
      ended = true;
    });
  return {
    response,
    events,
    find: (matches: (event: StreamEvent) => boolean, what: string): Promise<StreamEvent> =>
      until(() => events.find(matches), { what, seen: () => events }),
    ended: () => until(() => ended, { what: 'the end', seen: () => events }),
    close: async () => {
      abort.abort();
      await reading;
    },
  };
}

describe('the event stream of GraphQL', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService();
  });
  after(() => service.stop());

  const streamOf = async (world: Awaited<ReturnType<typeof createSubscriber>>, token = world.token) => {
    const path = (await world.graphql('{ webhookTypes }')).headers.get('x-graphql-event-stream') ?? '';
    return openStream(service, path, token);
  };

  test('the path that the header names streams each change of subscriptions and notifications', async () => {
    const world = await createSubscriber(service);
    const stream = await streamOf(world);
    assert.equal(stream.response.status, 200);
    assert.match(stream.response.headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.ok(stream.response.headers.get('x-request-id'));
    assert.deepEqual((await stream.find(({ event }) => event === 'ready', 'ready')).data, { clientId: world.clientId });

    const id = await world.subscribe({ active: true });
    const created = await stream.find(({ data }) => data.id === id && data.change === 'created', 'created');
    assert.deepEqual(created, { event: 'subscription', data: { id, change: 'created', active: true } });
    await world.graphql(
      'mutation ($id: UUID!) { updateSubscription(input: {id: $id, patch: {active: false}}) { subscription { id } } }',
      { id },
    );
    await stream.find(({ data }) => data.id === id && data.change === 'updated' && data.active === false, 'updated');

    const answer = await service.client(world.token, 'POST', `/webhooks/ping/${id}?client_id=${world.clientId}`);
    assert.ok(answer.status < 300, answer.text);
    const pinged = await stream.find(({ event }) => event === 'notification', 'ping');
    assert.deepEqual(
      { ...pinged.data, id: '' },
      { id: '', subscriptionId: id, type: 'PING', status: 'pending', attempts: 0 },
    );
    await stream.find(({ data }) => data.id === pinged.data.id && data.attempts === 1, 'an attempt of the ping');

    await world.graphql('mutation ($id: UUID!) { deleteSubscription(input: {id: $id}) { subscription { id } } }', {
      id,
    });
    await stream.find((event) => event.data.id === id && event.data.change === 'deleted', 'deleted');
    await stream.close();
  });

  test('a statement that writes many notifications is announced in parts', async (t) => {
    // There the service announces what it writes, and no trigger what others do.
    if (await isOnWorkers(service)) return t.skip(ON_WORKERS);
    const world = await createSubscriber(service);
    const stream = await streamOf(world);
    const id = await world.subscribe();
    await world.history(id, 30, 1);
    await stream.find(
      () => stream.events.filter(({ event }) => event === 'notification').length === 30,
      'thirty notifications',
    );
    const { data } = await stream.find(({ event }) => event === 'notification', 'notification');
    assert.deepEqual(
      { ...data, id: '' },
      { id: '', subscriptionId: id, type: 'TRADE_STATUS_CHANGE', status: 'delivered', attempts: 1 },
    );
    const notifications = `${await world.schemaOf()}.notifications`;
    await service.query(`update ${notifications} set status = 'failed', attempts_count = 7 where id = $1`, [data.id]);
    await stream.find(
      (event) => event.data.id === data.id && event.data.status === 'failed' && event.data.attempts === 7,
      'failed',
    );
    await stream.close();
  });

  test('a stream tells nothing of other clients, and nothing is announced that nobody follows', async () => {
    const watched = await createSubscriber(service);
    const other = await createSubscriber(service);
    const stream = await streamOf(watched);
    const id = await other.subscribe();
    await other.history(id, 5);
    const own = await watched.subscribe();
    await stream.find(({ data }) => data.id === own, 'own');
    assert.deepEqual(
      stream.events.filter(({ event }) => event !== 'ready').map(({ data }) => data.id),
      [own],
    );
    const { rows } = await service.query('select watched_clients() as client');
    assert.ok(!rows.some((row) => row.client === other.clientId));
    await stream.close();
  });

  test('what is rolled back is not told', async () => {
    const world = await createSubscriber(service);
    const id = await world.subscribe();
    const stream = await streamOf(world);
    await service
      .query(
        `do $$ begin update subscriptions set url = 'https://never.example/' where id = '${id}'; raise exception 'no'; end $$`,
      )
      .catch(() => undefined);
    await world.graphql(
      'mutation ($id: UUID!) { updateSubscription(input: {id: $id, patch: {active: true}}) { subscription { id } } }',
      { id },
    );
    await stream.find(({ event }) => event === 'subscription', 'update');
    assert.equal(stream.events.filter(({ event }) => event === 'subscription').length, 1);
    await stream.close();
  });

  test('it ends when the token is revoked, with the reason', async () => {
    const world = await createSubscriber(service);
    const token = await accessToken(service, world.contactId);
    const stream = await streamOf(world, token);
    await stream.find(({ event }) => event === 'ready', 'ready');
    await service.query(
      "update access_tokens set revoked_at = now() where token_sha256 = sha256(convert_to($1, 'UTF8'))",
      [token],
    );
    await stream.ended();
    assert.deepEqual(stream.events.at(-1), { event: 'end', data: { reason: 'authentication_failed' } });
  });

  test('it ends when the token expires', async () => {
    const world = await createSubscriber(service);
    const stream = await streamOf(world, await accessToken(service, world.contactId, 2));
    await stream.find(({ event }) => event === 'ready', 'ready');
    await stream.ended();
    assert.deepEqual(stream.events.at(-1), { event: 'end', data: { reason: 'token_expired' } });
  });

  test('it ends when the client is disabled', async () => {
    const world = await createSubscriber(service);
    const stream = await streamOf(world);
    await stream.find(({ event }) => event === 'ready', 'ready');
    const answer = await service.operator('PATCH', `/clients/${world.clientId}`, { status: 'disabled' });
    assert.equal(answer.status, 200, answer.text);
    await stream.ended();
    assert.deepEqual(stream.events.at(-1), { event: 'end', data: { reason: 'client_disabled' } });
  });

  const tokenOfAnother = async (world: Awaited<ReturnType<typeof createSubscriber>>) =>
    accessToken(service, (await world.hire('Another')).contactId);

  test('a client has a limited number of streams; closing one makes room', async () => {
    const world = await createSubscriber(service);
    const open: Awaited<ReturnType<typeof streamOf>>[] = [];
    // One contact cannot take all of them.
    for (let token = world.token; open.length < MAX_STREAMS_PER_CLIENT; token = await tokenOfAnother(world)) {
      const left = MAX_STREAMS_PER_CLIENT - open.length;
      const most = Math.min(MAX_STREAMS_PER_CONTACT, left);
      open.push(...(await Promise.all(Array.from({ length: most }, () => streamOf(world, token)))));
      if (left <= most) break;
      const further = await streamOf(world, token);
      assert.equal(further.response.status, 429);
      await further.close();
    }
    const refused = await streamOf(world, await tokenOfAnother(world));
    assert.equal(refused.response.status, 429);
    assert.equal(refused.response.headers.get('retry-after'), '5');
    await refused.close();
    await open[0]?.close();
    await until(async () => {
      const next = await streamOf(world);
      await next.close();
      return next.response.status === 200;
    });
    for (const stream of open) await stream.close();
  });

  test('without a token, 401; another method, 405', async () => {
    const path = `${service.api}/webhooks/graphql/stream?client_id=CLI000001`;
    assert.equal((await fetch(path)).status, 401);
    const wrong = await fetch(path, { method: 'POST' });
    assert.equal(wrong.status, 405);
    assert.equal(wrong.headers.get('allow'), 'GET');
  });

  test('a lost database connection is made again, and the stream says that something may have been missed', async () => {
    const world = await createSubscriber(service);
    const stream = await streamOf(world);
    await stream.find(({ event }) => event === 'ready', 'ready');
    const { rows } = await service.query(
      "select pg_terminate_backend(pid) as ended from pg_stat_activity where application_name = 'lombard-hearing' and datname = current_database()",
    );
    assert.equal(rows.length, 1);
    // A database that was killed comes back without its unlogged tables.
    await service.query('truncate webhook_watches');
    await stream.find(({ event }) => event === 'resync', 'resync');
    const id = await world.subscribe();
    await stream.find(({ data }) => data.id === id, 'created');
    await stream.close();
  });

  test('when nobody follows any more, nothing is announced, and a process without the role worker gives its connection back', async () => {
    await until(async () => (await service.query('select watched_clients() as client')).rowCount === 0);
    const own = await startTestService({ LOMBARD_ROLES: 'api,auth,operator' });
    try {
      const hearing =
        "select from pg_stat_activity where application_name = 'lombard-hearing' and datname = current_database()";
      const world = await createSubscriber(own);
      const path = (await world.graphql('{ webhookTypes }')).headers.get('x-graphql-event-stream') ?? '';
      const stream = await openStream(own, path, world.token);
      await stream.find(({ event }) => event === 'ready', 'ready');
      assert.equal((await own.query(hearing)).rowCount, 1);
      await stream.close();
      await until(async () => (await own.query(hearing)).rowCount === 0);
    } finally {
      await own.stop();
    }
  });

  test('a service that stops ends its streams at once', async () => {
    const own = await startTestService();
    const world = await createSubscriber(own);
    const path = (await world.graphql('{ webhookTypes }')).headers.get('x-graphql-event-stream') ?? '';
    const stream = await openStream(own, path, world.token);
    await stream.find(({ event }) => event === 'ready', 'ready');
    await own.stop();
    await stream.ended();
    assert.deepEqual(stream.events.at(-1), { event: 'end', data: { reason: 'stopping' } });
  });
});
