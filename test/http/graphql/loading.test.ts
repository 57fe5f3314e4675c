import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { modulesOf } from '../../world/command.ts';
import { createSubscriber } from '../../world/graphql.ts';
import { call, startTestService, type TestService } from '../../world/service.ts';
import { until } from '../../world/until.ts';

const QUERY = '{ subscriptions { totalCount } }';
const SCHEMA = '/webhooks/graphql/schema.graphql';

describe('PostGraphile', () => {
  /** How often the catalogue has been read; a schema reads it once. */
  let introspections = 0;
  let failing = false;
  const query = pg.Client.prototype.query;
  let service: TestService;
  before(async () => {
    pg.Client.prototype.query = function record(this: pg.Client, ...args: unknown[]) {
      const text = (args[0] as { text?: string })?.text ?? String(args[0]);
      if (text.includes('pg_catalog.pg_namespace') && text.includes('introspection')) {
        introspections += 1;
        if (failing) return Promise.reject(new Error('the catalogue is gone'));
      }
      return (query as (...all: unknown[]) => unknown).apply(this, args);
    } as never;
    service = await startTestService();
  });
  after(async () => {
    pg.Client.prototype.query = query;
    await service.stop();
  });

  test('is no part of the service until it is loaded', () => {
    const loaded = modulesOf('src/service.ts');
    assert.ok(loaded.length > 10);
    assert.deepEqual(
      loaded.filter((path) => /node_modules\/(postgraphile|grafast|graphile-build)/.test(path)),
      [],
    );
  });

  test('is loaded by the first call, once for two at a time, and by the next one after a failure', async () => {
    const { token, clientId } = await createSubscriber(service);
    const ask = () =>
      service.client(token, 'POST', `/webhooks/graphql?client_id=${clientId}`, { body: { query: QUERY } });
    assert.equal(introspections, 0);

    failing = true;
    for (const answer of [await ask(), await call(`${service.api}${SCHEMA}`, 'GET')]) {
      assert.deepEqual([answer.status, answer.body.code], [502, 'integration_error'], answer.text);
      assert.doesNotMatch(answer.text, /catalogue/);
    }
    assert.equal(introspections, 2);

    failing = false;
    const [one, two, schema] = await Promise.all([ask(), ask(), call(`${service.api}${SCHEMA}`, 'GET')]);
    for (const answer of [one, two]) assert.deepEqual(answer.body, { data: { subscriptions: { totalCount: 0 } } });
    assert.match(schema.text, /^type Subscription /m);
    assert.equal(introspections, 3);
  });

  test('is loaded without a call by a process that starts where a client has a subscription', async () => {
    const { subscribe } = await createSubscriber(service);
    await subscribe();
    const before = introspections;
    const again = await startTestService({}, { url: service.databaseUrl, drop: async () => {} });
    try {
      await until(() => introspections > before);
      const schema = await call(`${again.api}${SCHEMA}`, 'GET');
      assert.equal(schema.status, 200, schema.text);
      assert.equal(introspections, before + 1);
    } finally {
      await again.stop();
    }
  });
});
