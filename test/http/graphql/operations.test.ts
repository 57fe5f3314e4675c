import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createSubscriber } from '../../world/graphql.ts';
import { call, startTestService, type TestService } from '../../world/service.ts';

const CREATE = `mutation Create($input: CreateSubscriptionInput!) {
  createSubscription(input: $input) {
    clientMutationId
    subscription { id clientId contactId url active secret types extraHeaders { name value } createdAt notifications { totalCount nodes { id } } }
  }
}`;
const UPDATE = `mutation Update($input: UpdateSubscriptionInput!) {
  updateSubscription(input: $input) { clientMutationId subscription { id url active secret types extraHeaders { name value } } }
}`;
const DELETE = `mutation Delete($input: DeleteSubscriptionInput!) {
  deleteSubscription(input: $input) { clientMutationId subscription { id url notifications { totalCount } } query { subscriptions { totalCount } } }
}`;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('GraphQL operations', () => {
  let service: TestService;
  let world: Awaited<ReturnType<typeof createSubscriber>>;
  before(async () => {
    service = await startTestService();
    world = await createSubscriber(service);
  });
  after(() => service.stop());

  const post = (body: unknown, options: { headers?: Record<string, string>; raw?: string } = {}) =>
    call(`${service.api}/webhooks/graphql?client_id=${world.clientId}`, 'POST', {
      token: world.token,
      body,
      ...options,
    });

  test('a subscription is created with what was given, and inactive unless active is true', async () => {
    const given = { url: 'https://receiver.example/a?b=1', types: ['DEBIT_TRANSACTION', 'CREDIT_TRANSACTION'] };
    const answer = await world.graphql(CREATE, { input: { clientMutationId: 'mine', subscription: given } });
    assert.equal(answer.errors, undefined);
    assert.equal(answer.status, 200);
    const { clientMutationId, subscription } = answer.data.createSubscription;
    assert.equal(clientMutationId, 'mine');
    assert.match(subscription.id, UUID);
    assert.deepEqual(
      { ...subscription, id: '', createdAt: '' },
      {
        id: '',
        clientId: world.clientId,
        contactId: world.contactId,
        ...given,
        active: false,
        secret: '',
        extraHeaders: [],
        createdAt: '',
        notifications: { totalCount: 0, nodes: [] },
      },
    );
    assert.ok(!Number.isNaN(Date.parse(subscription.createdAt)));

    const active = await world.graphql(CREATE, {
      input: {
        subscription: { ...given, active: true, secret: 'shh', extraHeaders: [{ name: 'X-Tenant', value: 'a' }] },
      },
    });
    const made = active.data.createSubscription.subscription;
    assert.equal(made.active, true);
    assert.equal(made.secret, 'shh');
    assert.deepEqual(made.extraHeaders, [{ name: 'X-Tenant', value: 'a' }]);
  });

  test('an update changes what the patch names and nothing else; types replace the whole list', async () => {
    const id = await world.subscribe({ secret: 'one', extraHeaders: [{ name: 'x-a', value: '1' }] });
    const patch = async (fields: object) =>
      (await world.graphql(UPDATE, { input: { id, patch: fields } })).data.updateSubscription.subscription;
    const before = await patch({});
    assert.deepEqual(await patch({ active: true }), { ...before, active: true });
    assert.deepEqual(await patch({ types: [] }), { ...before, active: true, types: [] });
    assert.deepEqual(await patch({ types: ['PAYMENT_STATUS_CHANGE'], active: false }), {
      ...before,
      types: ['PAYMENT_STATUS_CHANGE'],
    });
    const rotated = await patch({ secret: 'two', previousSecretSeconds: 60 });
    assert.equal(rotated.secret, 'two');
    const { rows } = await service.query(
      "select cardinality(former_secrets) as kept, former_secrets_until[1] > now() + interval '50 s' as later from subscriptions where id = $1",
      [id],
    );
    assert.deepEqual(rows, [{ kept: 1, later: true }]);
    assert.equal((await patch({ secret: '' })).secret, '');
  });

  test('a former secret keeps its overlap when the next one is replaced too; at most three; none after a rotation without', async () => {
    const id = await world.subscribe({ secret: 'a' });
    const rotate = (secret: string, previousSecretSeconds: number) =>
      world.graphql(UPDATE, { input: { id, patch: { secret, previousSecretSeconds } } });
    const overlaps = async () =>
      (
        await service.query(
          `select array(select round(extract(epoch from until - updated_at))::int from unnest(former_secrets_until) until) as seconds
           from subscriptions where id = $1`,
          [id],
        )
      ).rows[0]?.seconds.map((seconds: number) => Math.ceil(seconds / 10) * 10);
    await rotate('b', 3_600);
    await rotate('c', 60);
    assert.deepEqual(await overlaps(), [60, 3_600]);
    await rotate('c', 600);
    assert.deepEqual(await overlaps(), [60, 3_600], 'the secret is the same');
    await rotate('d', 120);
    assert.deepEqual(await overlaps(), [120, 60, 3_600]);
    const refused = await rotate('e', 30);
    assert.match(refused.errors?.[0].message, /^previousSecretSeconds: 3 former secrets/);
    await rotate('e', 0);
    assert.deepEqual(await overlaps(), []);
  });

  test('an id is found in every spelling that the scalar takes', async () => {
    const id = await world.subscribe();
    for (const spelling of [id.toUpperCase(), id.replaceAll('-', ''), id.replace('-', '')]) {
      const answer = await world.graphql(UPDATE, { input: { id: spelling, patch: { active: true } } });
      assert.equal(answer.data.updateSubscription.subscription.id, id, answer.text);
    }
    const deleted = await world.graphql(DELETE, { input: { id: id.replaceAll('-', '') } });
    assert.equal(deleted.data.deleteSubscription.subscription.id, id);
    const { rows } = await service.query(
      'select distinct entity_id from audit where lower(replace(entity_id, $1, $2)) = $3',
      ['-', '', id.replaceAll('-', '')],
    );
    assert.deepEqual(rows, [{ entity_id: id }]);
  });

  test('what one request creates is listed in the order of its fields', async () => {
    const fields = Array.from(
      { length: 10 },
      (_, n) =>
        `m${n}: createSubscription(input: {subscription: {url: "https://receiver.example/order/${n}", types: []}}) { clientMutationId }`,
    );
    await world.graphql(`mutation { ${fields.join(' ')} }`);
    const { data } = await world.graphql('{ subscriptions(filter: {url: {includes: "/order/"}}) { nodes { url } } }');
    assert.deepEqual(
      data.subscriptions.nodes.map(({ url }: { url: string }) => url.slice(-1)),
      [...'0123456789'],
    );
  });

  test('two changes of one request are made in their order, and each shows its own result', async () => {
    const id = await world.subscribe();
    const answer = await world.graphql(
      `mutation ($id: UUID!) {
        a: updateSubscription(input: {id: $id, patch: {active: true}}) { subscription { active } }
        b: updateSubscription(input: {id: $id, patch: {active: false}}) { subscription { active } }
      }`,
      { id },
    );
    assert.deepEqual(answer.data, { a: { subscription: { active: true } }, b: { subscription: { active: false } } });
  });

  test('a deleted subscription is shown as it was, once, and is gone', async () => {
    const id = await world.subscribe();
    await world.history(id, 3);
    const count = (await world.graphql('{ subscriptions { totalCount } }')).data.subscriptions.totalCount;
    const answer = await world.graphql(DELETE, { input: { id, clientMutationId: 'd' } });
    assert.deepEqual(answer.data.deleteSubscription, {
      clientMutationId: 'd',
      subscription: { id, url: 'https://receiver.example/hook', notifications: { totalCount: 3 } },
      query: { subscriptions: { totalCount: count - 1 } },
    });
    const again = await world.graphql(DELETE, { input: { id } });
    assert.equal(again.status, 200);
    assert.equal(again.data.deleteSubscription, null);
    assert.equal(again.errors?.[0].extensions.code, 'subscription_not_found');
    const found = await world.graphql(
      'query ($id: UUID!) { subscriptions(filter: {id: {equalTo: $id}}) { totalCount nodes { id } } }',
      { id },
    );
    assert.deepEqual(found.data.subscriptions, { totalCount: 0, nodes: [] });
  });

  test('every change leaves an audit row, without the secret', async () => {
    const id = await world.subscribe({ secret: 'top-secret' });
    await world.graphql(UPDATE, { input: { id, patch: { active: true, secret: 'new-secret' } } });
    await world.graphql(DELETE, { input: { id } });
    const { rows } = await service.query(
      "select action, actor, client_id, coalesce(before::text, '') || coalesce(after::text, '') as said from audit where entity = 'subscription' and entity_id = $1 order by id",
      [id],
    );
    assert.deepEqual(
      rows.map((row) => row.action),
      ['create', 'update', 'delete'],
    );
    for (const row of rows) {
      assert.equal(row.actor, `contact:${world.contactId}`);
      assert.equal(row.client_id, world.clientId);
      assert.doesNotMatch(row.said, /top-secret|new-secret/);
    }
  });

  test('a secret is not in the database in the clear', async () => {
    const id = await world.subscribe({ secret: 'clear-text-secret' });
    const { rows } = await service.query('select s::text as row, secret from subscriptions s where id = $1', [id]);
    assert.doesNotMatch(rows[0].row, /clear-text-secret/);
    assert.ok(rows[0].secret.length > 0 && !rows[0].secret.includes('clear-text-secret'));
  });

  describe('rules, each named in the message', () => {
    const good = { url: 'https://receiver.example/', types: ['TRADE_STATUS_CHANGE'] };
    const headers = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `x-${n}`, value: 'v' }));
    const wrong: [string, object, RegExp][] = [
      ['a URL that is none', { url: 'nonsense' }, /url/],
      ['credentials', { url: 'https://u:p@receiver.example/' }, /url.*user/],
      ['a fragment', { url: 'https://receiver.example/#a' }, /url.*fragment/],
      ['a scheme', { url: 'ftp://receiver.example/' }, /url.*https/],
      ['a long URL', { url: `https://receiver.example/${'a'.repeat(2_048)}` }, /url.*2048/],
      ['six headers', { extraHeaders: headers(6) }, /extraHeaders.*5/],
      ['a header name without x-', { extraHeaders: [{ name: 'tenant', value: 'v' }] }, /extraHeaders\[0\]\.name.*x-/],
      [
        'a long header name',
        { extraHeaders: [{ name: `x-${'a'.repeat(127)}`, value: 'v' }] },
        /extraHeaders\[0\]\.name.*128/,
      ],
      [
        'a long header value',
        { extraHeaders: [{ name: 'x-a', value: 'v'.repeat(257) }] },
        /extraHeaders\[0\]\.value.*256/,
      ],
      ['a control character', { extraHeaders: [{ name: 'x-a', value: 'a\r\nb: c' }] }, /extraHeaders\[0\]\.value/],
      [
        "the service's own header",
        { extraHeaders: [{ name: 'X-Service-Signature', value: 'v' }] },
        /extraHeaders\[0\]\.name/,
      ],
      ['no header', { extraHeaders: [null] }, /extraHeaders\[0\]/],
      ['no type', { types: [null] }, /types\[0\]/],
    ];
    for (const [name, fields, message] of wrong) {
      test(name, async () => {
        const created = await world.graphql(CREATE, { input: { subscription: { ...good, ...fields } } });
        assert.equal(created.status, 200);
        assert.equal(created.data.createSubscription, null);
        assert.match(created.errors?.[0].message, message);
        const id = await world.subscribe();
        const updated = await world.graphql(UPDATE, { input: { id, patch: fields } });
        assert.match(updated.errors?.[0].message, message);
      });
    }

    test('the limits themselves are within', async () => {
      const fields = {
        ...good,
        extraHeaders: headers(4).concat([{ name: `x-${'a'.repeat(126)}`, value: 'v'.repeat(256) }]),
      };
      const { errors } = await world.graphql(CREATE, { input: { subscription: fields } });
      assert.equal(errors, undefined);
    });

    test('an overlap without a new secret, and one that is too long', async () => {
      const id = await world.subscribe({ secret: 'a' });
      for (const patch of [{ previousSecretSeconds: 10 }, { secret: 'b', previousSecretSeconds: 2_592_001 }]) {
        const { errors } = await world.graphql(UPDATE, { input: { id, patch } });
        assert.match(errors?.[0].message, /previousSecretSeconds/);
      }
    });
  });

  describe('permission', () => {
    test('a contact without can_manage_webhooks reads everything but the secret and the values of headers', async () => {
      const id = await world.subscribe({ secret: 'hidden', extraHeaders: [{ name: 'X-Key', value: 'hidden too' }] });
      const query =
        'query ($id: UUID!) { subscriptions(filter: {id: {equalTo: $id}}) { nodes { id url secret extraHeaders { name value } } } }';
      const answer = await world.asReader(query, { id });
      assert.equal(answer.status, 200);
      const extraHeaders = [{ name: 'X-Key', value: '' }];
      const url = 'https://receiver.example/hook';
      assert.deepEqual(answer.data.subscriptions.nodes, [{ id, url, secret: null, extraHeaders }]);
      assert.match(answer.errors?.[0].message, /can_manage_webhooks/);
      assert.deepEqual(answer.errors?.[0].path, ['subscriptions', 'nodes', 0, 'secret']);
      assert.doesNotMatch(answer.text, /hidden/);
      const [own] = (await world.graphql(query, { id })).data.subscriptions.nodes;
      assert.deepEqual([own.secret, own.extraHeaders[0].value], ['hidden', 'hidden too']);
    });

    test('and changes nothing', async () => {
      const id = await world.subscribe();
      const subscription = { url: 'https://receiver.example/', types: ['TRADE_STATUS_CHANGE'] };
      const before = await service.query('select * from subscriptions order by id');
      for (const [query, input] of [
        [CREATE, { subscription }],
        [UPDATE, { id, patch: { active: true } }],
        [DELETE, { id }],
      ] as const) {
        const answer = await world.asReader(query, { input });
        assert.equal(answer.errors?.[0].extensions.code, 'permission_denied');
        assert.match(answer.errors?.[0].message, /can_manage_webhooks/);
      }
      assert.deepEqual((await service.query('select * from subscriptions order by id')).rows, before.rows);
    });
  });

  describe('HTTP', () => {
    test('only POST', async () => {
      for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
        const answer = await call(
          `${service.api}/webhooks/graphql?client_id=${world.clientId}&query={webhookTypes}`,
          method,
          { token: world.token },
        );
        assert.equal(answer.status, 405, method);
        assert.equal(answer.headers.get('allow'), 'POST');
        assert.equal(answer.body.code, 'method_not_allowed');
      }
    });

    test('only application/json', async () => {
      for (const type of [
        'text/plain',
        'application/graphql',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
      ]) {
        const answer = await post(undefined, { raw: '{"query":"{webhookTypes}"}', headers: { 'content-type': type } });
        assert.equal(answer.status, 415, type);
        assert.equal(answer.body.code, 'unsupported_media_type');
      }
      const charset = await post(undefined, {
        raw: '{"query":"{webhookTypes}"}',
        headers: { 'content-type': 'application/json; charset=utf-8' },
      });
      assert.equal(charset.status, 200);
    });

    test('the answer names the event stream', async () => {
      const answer = await post({ query: '{ webhookTypes }' });
      assert.equal(
        answer.headers.get('x-graphql-event-stream'),
        `/webhooks/graphql/stream?client_id=${world.clientId}`,
      );
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
      assert.equal('errors' in answer.body, false);
    });

    test('the client is named by the parameter or by X-Client-ID', async () => {
      const ask = (headers: Record<string, string>, query = '') =>
        call(`${service.api}/webhooks/graphql${query}`, 'POST', {
          token: world.token,
          body: { query: '{ webhookTypes }' },
          headers,
        });
      assert.equal((await ask({ 'x-client-id': world.clientId })).status, 200);
      assert.equal((await ask({})).status, 400);
      assert.equal((await ask({})).body.code, 'missing_parameter');
      assert.equal((await ask({ 'x-client-id': 'CLI999999' })).status, 404);
      assert.equal((await ask({ 'x-client-id': world.clientId }, `?client_id=${world.clientId}`)).status, 200);
      const both = await ask({ 'x-client-id': 'CLI999999' }, `?client_id=${world.clientId}`);
      assert.deepEqual(
        [both.status, both.body.code, both.body.details],
        [400, 'invalid_parameter', 'header.X-Client-ID: differs from query.client_id; you can omit it'],
      );
    });

    test('without a token, and with a wrong one: 401', async () => {
      for (const token of [undefined, 'wrong']) {
        const answer = await call(`${service.api}/webhooks/graphql?client_id=${world.clientId}`, 'POST', {
          body: { query: '{ webhookTypes }' },
          ...(token ? { token } : {}),
        });
        assert.equal(answer.status, 401);
      }
    });

    const refused: [string, unknown, RegExp][] = [
      ['no query', {}, /query/],
      ['a query that is no text', { query: 1 }, /query/],
      ['variables that are a list', { query: '{ webhookTypes }', variables: [] }, /variables/],
      ...['', '{', '[]', '"text"', 'null'].map((variables): [string, unknown, RegExp] => [
        `variables in a text that is no JSON object: '${variables}'`,
        { query: '{ webhookTypes }', variables },
        /^variables: must be a JSON object, or a text that holds one$/,
      ]),
      ['operationName that is no text', { query: '{ webhookTypes }', operationName: 1 }, /operationName/],
      ['an operation that is not there', { query: 'query A { webhookTypes }', operationName: 'B' }, /operationName.*B/],
      [
        'several operations and no name',
        { query: 'query A { webhookTypes } query B { webhookTypes }' },
        /operationName/,
      ],
      ['no operation', { query: 'fragment F on Query { webhookTypes }' }, /./],
      ['a syntax error', { query: '{ webhookTypes' }, /Syntax Error/],
      ['an empty document', { query: '' }, /Syntax Error/],
      ['an unknown field', { query: '{ passwords }' }, /passwords/],
      ['a missing variable', { query: 'query ($n: Int!) { subscriptions(first: $n) { totalCount } }' }, /\$n/],
      [
        'a variable of another type',
        { query: 'query ($n: Int!) { subscriptions(first: $n) { totalCount } }', variables: { n: 'x' } },
        /\$n/,
      ],
      [
        'a UUID that is none',
        { query: 'mutation { deleteSubscription(input: {id: "x"}) { subscription { id } } }' },
        /UUID/,
      ],
      [
        'a type that is none',
        { query: '{ subscriptions(filter: {types: {anyEqualTo: NONSENSE}}) { totalCount } }' },
        /NONSENSE/,
      ],
      ['a subscription operation', { query: 'subscription { subscriptions { totalCount } }' }, /subscription/],
      ['a batch', [{ query: '{ webhookTypes }' }], /batch/],
    ];
    for (const [name, body, message] of refused) {
      test(`400 with errors: ${name}`, async () => {
        const answer = await post(body);
        assert.equal(answer.status, 400);
        assert.deepEqual(Object.keys(answer.body), ['errors']);
        assert.match(answer.body.errors[0].message, message);
      });
    }

    test('400: a body that is not JSON, and one that is not UTF-8', async () => {
      for (const raw of ['{', '', 'null', '"text"']) {
        const answer = await post(undefined, { raw, headers: { 'content-type': 'application/json' } });
        assert.equal(answer.status, 400, raw);
        assert.ok(answer.body.errors[0].message);
      }
    });

    test('variables come as an object, or as a text that holds one', async () => {
      const query = 'query ($n: Int!) { subscriptions(first: $n) { nodes { id } } }';
      const [object, text] = [
        await post({ query, variables: { n: 1 } }),
        await post({ query, variables: ' {"n": 1}' }),
      ];
      assert.deepEqual([object.status, object.body.data.subscriptions.nodes.length], [200, 1]);
      assert.deepEqual([text.status, text.body], [200, object.body]);
      const wrong = await post({ query, variables: '{"n": "\\u0000"}' });
      assert.match(wrong.body.errors[0].message, /^variables\.n: /);
    });

    test('numbers are JSON numbers, whatever way they are written', async () => {
      const raw = '{"query":"query ($n: Int) { subscriptions(first: $n) { totalCount } }","variables":{"n":1.0}}';
      assert.equal((await post(undefined, { raw, headers: { 'content-type': 'application/json' } })).status, 200);
    });

    test('values the database refuses are told without SQL', async () => {
      const filter = '{createdAt: {greaterThan: "garbage"}}';
      const answer = await post({ query: `{ subscriptions(filter: ${filter}) { totalCount } }` });
      assert.equal(answer.status, 200);
      assert.equal(answer.body.data.subscriptions, null);
      assert.equal(answer.body.errors[0].extensions.code, 'invalid_parameter');
      assert.doesNotMatch(answer.text, /select|syntax for type|\bat .*\.ts/i);
    });

    test('a value that is not a date is told with its field', async () => {
      const fragment = 'fragment F on Query { subscriptions(filter: {createdAt: {lessThan: $at}}) { totalCount } }';
      const instant = 'must be an instant, for example 2026-11-21T10:00:00Z';
      const wrong: [string, object, string][] = [
        ['{ subscriptions(filter: {createdAt: {lessThan: "x"}}) { totalCount } }', {}, 'filter.createdAt.lessThan'],
        [
          '{ subscriptions(filter: {createdAt: {in: ["2026-11-21T10:00:00Z", "2026-13-01"]}}) { totalCount } }',
          {},
          'filter.createdAt.in[1]',
        ],
        [
          '{ subscriptions(filter: {createdAt: {lessThan: "0000-01-01T00:00:00Z"}}) { totalCount } }',
          {},
          'filter.createdAt.lessThan',
        ],
        [`query ($at: Datetime) { ...F } ${fragment}`, { at: '21st' }, 'filter.createdAt.lessThan'],
        [
          'query ($f: SubscriptionFilter) { subscriptions(filter: $f) { totalCount } }',
          { f: { active: { equalTo: true }, createdAt: { notIn: ['2026-11-21', 'x'] } } },
          'filter.createdAt.notIn[1]',
        ],
        [
          'query ($n: NotificationFilter) { subscriptions { nodes { notifications(filter: $n) { totalCount } } } }',
          { n: { createdAt: { equalTo: '' } } },
          'filter.createdAt.equalTo',
        ],
      ];
      for (const [query, variables, field] of wrong) {
        const answer = await post({ query, variables });
        assert.equal(answer.status, 200, answer.text);
        const [{ message, extensions }] = answer.body.errors;
        assert.deepEqual([message, extensions.code], [`${field}: ${instant}`, 'invalid_parameter'], query);
      }
      for (const day of ['2026-11-21', '2026-11-21 10:00:00+00', '2026-11-21T10:00:00.5+02:00']) {
        const read = await post({
          query: `{ subscriptions(filter: {createdAt: {lessThan: "${day}"}}) { totalCount } }`,
        });
        assert.equal(read.body.data.subscriptions.totalCount, 0, read.text);
      }
    });

    test('an id that nobody has is not found', async () => {
      const { errors } = await world.graphql(UPDATE, { input: { id: randomUUID(), patch: { active: true } } });
      assert.equal(errors?.[0].extensions.code, 'subscription_not_found');
    });
  });
});
