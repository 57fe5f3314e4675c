import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CLIENT_ROLE, readAs } from '../../../src/http/graphql/read-only.ts';
import { isOnWorkers, ON_WORKERS, poolOfClient } from '../../world/cells.ts';
import { createSubscriber } from '../../world/graphql.ts';
import { call, startTestService, type TestService } from '../../world/service.ts';

type Subscriber = Awaited<ReturnType<typeof createSubscriber>>;

/** A text that only the owner's rows hold. */
const MARK = 'mark-of-the-owner';

describe('tenants of GraphQL', () => {
  let service: TestService;
  let owner: Subscriber;
  let stranger: Subscriber;
  let id: string;
  before(async () => {
    service = await startTestService();
    owner = await createSubscriber(service, 'Owner Ltd');
    stranger = await createSubscriber(service, 'Stranger Ltd');
    id = await owner.subscribe({
      url: `https://${MARK}.example/`,
      secret: MARK,
      extraHeaders: [{ name: 'x-mark', value: MARK }],
      active: true,
    });
    await owner.history(id, 4, 2);
    await stranger.history(await stranger.subscribe(), 1, 1);
  });
  after(() => service.stop());

  const everything = `id clientId contactId url active secret types extraHeaders { name value } createdAt
    notifications(first: 5) { totalCount nodes { id type status body attempts(first: 5) { totalCount nodes { deliveryId headers body } } } }`;

  /** Every operation, with the owner's ids and cursors wherever one can be given. */
  const attempts: [string, (cursor: string) => { query: string; variables?: object }][] = [
    ['subscriptions', () => ({ query: `{ subscriptions { totalCount nodes { ${everything} } } }` })],
    [
      'subscriptions by id',
      () => ({
        query: `query ($id: UUID!) { subscriptions(filter: {id: {equalTo: $id}}) { totalCount nodes { ${everything} } } }`,
        variables: { id },
      }),
    ],
    [
      'subscriptions by ids',
      () => ({
        query: `query ($id: UUID!) { subscriptions(filter: {id: {in: [$id]}}) { totalCount edges { node { ${everything} } } } }`,
        variables: { id },
      }),
    ],
    [
      'subscriptions by contact',
      () => ({
        query: `query ($c: String!) { subscriptions(filter: {contactId: {equalTo: $c}}) { totalCount nodes { ${everything} } } }`,
        variables: { c: owner.contactId },
      }),
    ],
    [
      'subscriptions by url',
      () => ({
        query: `{ subscriptions(filter: {url: {includes: "${MARK}"}}) { totalCount nodes { ${everything} } } }`,
      }),
    ],
    [
      'subscriptions after a cursor',
      (after) => ({
        query: `query ($after: Cursor) { subscriptions(first: 5, after: $after) { totalCount nodes { ${everything} } } }`,
        variables: { after },
      }),
    ],
    [
      'subscriptions before a cursor',
      (before) => ({
        query: `query ($before: Cursor) { subscriptions(last: 5, before: $before) { totalCount nodes { ${everything} } } }`,
        variables: { before },
      }),
    ],
    ['webhookTypes', () => ({ query: '{ webhookTypes }' })],
    [
      'createSubscription',
      () => ({
        query: `mutation { createSubscription(input: {subscription: {url: "https://stranger.example/", types: [DEBIT_TRANSACTION]}}) { subscription { ${everything} } query { subscriptions { nodes { ${everything} } } } } }`,
      }),
    ],
    [
      'updateSubscription',
      () => ({
        query: `mutation ($id: UUID!) { updateSubscription(input: {id: $id, patch: {active: false, url: "https://stolen.example/"}}) { subscription { ${everything} } query { subscriptions { nodes { ${everything} } } } } }`,
        variables: { id },
      }),
    ],
    [
      'deleteSubscription',
      () => ({
        query: `mutation ($id: UUID!) { deleteSubscription(input: {id: $id}) { subscription { ${everything} } query { subscriptions { nodes { ${everything} } } } } }`,
        variables: { id },
      }),
    ],
    ['introspection', () => ({ query: '{ __schema { types { name description } } }' })],
  ];

  const snapshot = async () =>
    (await service.query('select * from subscriptions where client_id = $1 order by id', [owner.clientId])).rows;

  for (const [name, operation] of attempts) {
    test(`${name}: a stranger sees and changes nothing of the owner's`, async () => {
      const cursor = (await owner.graphql('{ subscriptions(first: 1) { edges { cursor } } }')).data.subscriptions
        .edges[0].cursor;
      const before = await snapshot();
      const { query, variables } = operation(cursor);
      for (const ask of [stranger.graphql, stranger.asReader]) {
        const answer = await ask(query, variables);
        assert.ok(!answer.text.includes(MARK), answer.text);
        assert.ok(!answer.text.includes(id) || answer.errors !== undefined, answer.text);
        assert.ok(!JSON.stringify(answer.data ?? null).includes(id));
      }
      assert.deepEqual(await snapshot(), before);
    });
  }

  test('the owner sees what the stranger does not', async () => {
    const answer = await owner.graphql(`{ subscriptions { totalCount nodes { ${everything} } } }`);
    assert.equal(answer.data.subscriptions.totalCount, 1);
    // What happened just before the subscription was made may still be on its way to it.
    assert.ok(answer.data.subscriptions.nodes[0].notifications.totalCount >= 4);
    assert.ok(answer.text.includes(MARK));
  });

  test("the stranger's token does not open the owner's client, on any path and either way of naming it", async () => {
    for (const [path, method] of [
      ['/webhooks/graphql', 'POST'],
      ['/webhooks/graphql/stream', 'GET'],
    ] as const) {
      for (const [query, headers] of [
        [`?client_id=${owner.clientId}`, {}],
        ['', { 'x-client-id': owner.clientId }],
      ] as const) {
        const answer = await call(`${service.api}${path}${query}`, method, {
          token: stranger.token,
          headers,
          ...(method === 'POST' ? { body: { query: '{ subscriptions { totalCount } }' } } : {}),
        });
        assert.equal(answer.status, 404);
        assert.equal(answer.body.code, 'client_not_found');
      }
    }
  });

  describe('the database itself', () => {
    const read = async (clientId: string, text: string, values: unknown[] = []) =>
      readAs(await poolOfClient(service.service.context.pool, clientId), clientId)(null, (client) =>
        client.query<Record<string, unknown>>({ text, values }),
      );
    const TABLES = ['subscriptions', 'notifications', 'attempts', 'webhook_events'];

    test('the role of a client sees the rows of that client, whatever the statement asks', async () => {
      for (const table of TABLES) {
        const own = await read(owner.clientId, `select count(client_id)::int as count from ${table}`);
        const others = await read(
          owner.clientId,
          `select count(client_id)::int as count from ${table} where client_id <> $1`,
          [owner.clientId],
        );
        const nobody = await read('', `select count(client_id)::int as count from ${table}`);
        // The engine goes on sending: who counts all rows first may find fewer than the owner has then.
        const all = await service.query(`select count(*)::int as count from ${table}`);
        assert.ok(Number(own.rows[0]?.count) > 0, table);
        assert.ok(Number(own.rows[0]?.count) < Number(all.rows[0]?.count), table);
        assert.equal(others.rows[0]?.count, 0);
        assert.equal(nobody.rows[0]?.count, 0);
      }
    });

    test('it may read no secret, no other table and no partition, and write nothing', async () => {
      const refused = [
        'select secret from subscriptions',
        'select former_secrets from subscriptions',
        'select * from clients',
        'select * from contacts',
        'select * from access_tokens',
        'select * from audit',
        'select * from webhook_queue',
        'select * from notifications_default',
        'select * from attempts_default',
        'select * from webhook_events_default',
      ];
      for (const text of refused) await assert.rejects(read(owner.clientId, text), /permission denied/, text);
      for (const text of [
        "update subscriptions set url = 'x'",
        'delete from subscriptions',
        "insert into subscriptions (client_id) values ('x')",
        'create temporary table t (a int)',
      ]) {
        await assert.rejects(read(owner.clientId, text), /permission denied|read-only transaction/, text);
      }
    });

    test('it is no role to sign in with, and has no attributes', async (t) => {
      // The coordinator connects to them as this role.
      if (await isOnWorkers(service)) return t.skip(ON_WORKERS);
      const { rows } = await service.query(
        'select rolcanlogin, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolinherit from pg_roles where rolname = $1',
        [CLIENT_ROLE],
      );
      assert.deepEqual(
        { ...rows[0], rolinherit: true },
        {
          rolcanlogin: false,
          rolsuper: false,
          rolbypassrls: false,
          rolcreaterole: false,
          rolcreatedb: false,
          rolinherit: true,
        },
      );
    });

    test('a connection forgets the client and the role after the read', async () => {
      const { pool } = service.service.context;
      await read(owner.clientId, 'select 1');
      for (let n = 0; n < 10; n++) {
        const { rows } = await pool.query(
          "select current_user <> $1 as free, coalesce(current_setting('lombard.client_id', true), '') as client",
          [CLIENT_ROLE],
        );
        assert.deepEqual(rows, [{ free: true, client: '' }]);
      }
    });
  });

  test('twenty of each at the same time stay apart', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        (n % 2 ? owner : stranger).graphql(
          '{ subscriptions { nodes { clientId notifications(first: 9) { nodes { body } } } } }',
        ),
      ),
    );
    for (const [n, answer] of answers.entries()) {
      assert.equal(answer.status, 200, answer.text.slice(0, 300));
      assert.equal(answer.errors, undefined);
      const expected = (n % 2 ? owner : stranger).clientId;
      for (const node of answer.data.subscriptions.nodes) assert.equal(node.clientId, expected);
    }
  });
});
