import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { getIntrospectionQuery } from 'graphql';
import { LIMITS, type LimitName } from '../../../src/http/graphql/limits.ts';
import { createSubscriber } from '../../world/graphql.ts';
import { longestTurn } from '../../world/longest-turn.ts';
import { call, startTestService, type TestService } from '../../world/service.ts';

/** Milliseconds that the process may compute at a stretch for one abuse: the promise is 100, the rest is for a slow test machine. */
const MAX_PAUSE = 300;

describe('GraphQL limits', () => {
  let service: TestService;
  let world: Awaited<ReturnType<typeof createSubscriber>>;
  before(async () => {
    service = await startTestService();
    world = await createSubscriber(service);
    await world.history(await world.subscribe(), 30, 2);
    // The first plans are made while everything is still being compiled.
    await world.graphql('{ subscriptions { nodes { id notifications { nodes { attempts { totalCount } } } } } }');
  });
  after(() => service.stop());

  const post = (body: object) =>
    call(`${service.api}/webhooks/graphql?client_id=${world.clientId}`, 'POST', { token: world.token, body });

  /** Runs a request; fails where others had to wait for it. */
  async function withHeartbeat<T>(work: () => Promise<T>): Promise<T> {
    const { result, longest } = await longestTurn(work);
    assert.ok(longest < MAX_PAUSE, `the process computed for ${longest} ms at a stretch`);
    return result;
  }

  const nest = (depth: number) => {
    // An input of the mutation leads back to the query, as deep as one likes; its fields need not exist for the document to parse.
    let text = 'id';
    for (let n = 0; n < depth; n++) text = `a { ${text} }`;
    return `{ ${text} }`;
  };
  const bomb = (length: number) => {
    const fragments = Array.from(
      { length },
      (_, n) => `fragment F${n} on Query { ${n + 1 < length ? `...F${n + 1} ...F${n + 1}` : '__typename'} }`,
    );
    return `{ ...F0 } ${fragments.join(' ')}`;
  };
  const fieldBomb = (length: number) => {
    const fragments = Array.from(
      { length },
      (_, n) =>
        `fragment F${n} on Subscription { ${n + 1 < length ? `a: notifications(first: 1) { totalCount } ...F${n + 1} ...F${n + 1} ...F${n + 1}` : 'id'} }`,
    );
    return `{ subscriptions { nodes { ...F0 } } } ${fragments.join(' ')}`;
  };
  const list = (length: number, make: (n: number) => string) => Array.from({ length }, (_, n) => make(n)).join(' ');
  const typeBomb = (depth: number): string =>
    depth === 0 ? 'name' : `fields { name type { ${typeBomb(depth - 1)} } }`;
  const ofType = (depth: number): string =>
    depth === 0 ? 'name' : `kind name description ofType { ${ofType(depth - 1)} }`;
  const ofTypes = (depth: number): string =>
    depth === 0 ? 'name' : `interfaces { ${ofTypes(depth - 1)} } possibleTypes { name }`;

  const deepJson = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

  const over: [string, LimitName, () => { query: string; variables?: object }][] = [
    [
      'a long document',
      'DOCUMENT_CHARACTERS',
      () => ({ query: `{ webhookTypes } #${'x'.repeat(LIMITS.DOCUMENT_CHARACTERS)}` }),
    ],
    ['many tokens', 'TOKENS', () => ({ query: `{ webhookTypes(${list(700, (n) => `a${n}: 1`)}) }` })],
    ['deep nesting', 'DEPTH', () => ({ query: nest(LIMITS.DEPTH + 1) })],
    ['very deep nesting', 'DEPTH', () => ({ query: nest(600) })],
    ['many fields', 'FIELDS', () => ({ query: `{ subscriptions { nodes { ${'id '.repeat(LIMITS.FIELDS)} } } }` })],
    ['a fragment bomb of 1.5 kB', 'FIELDS', () => ({ query: fieldBomb(14) })],
    ['a fragment bomb at the root', 'ROOT_FIELDS', () => ({ query: bomb(30) })],
    [
      'many aliases',
      'ALIASES',
      () => ({ query: `{ subscriptions { nodes { ${list(LIMITS.ALIASES + 1, (n) => `a${n}: id`)} } } }` }),
    ],
    [
      'many root fields',
      'ROOT_FIELDS',
      () => ({ query: `{ ${list(LIMITS.ROOT_FIELDS + 1, (n) => `a${n}: webhookTypes`)} }` }),
    ],
    [
      'many mutations in one',
      'ROOT_FIELDS',
      () => ({
        query: `mutation { ${list(20, (n) => `a${n}: deleteSubscription(input: {id: "${world.clientId}"}) { clientMutationId }`)} }`,
      }),
    ],
    [
      'directives',
      'DIRECTIVES',
      () => ({ query: `{ webhookTypes ${'@skip(if: false) '.repeat(LIMITS.DIRECTIVES + 1)} }` }),
    ],
    ['unknown directives', 'DIRECTIVES', () => ({ query: `{ webhookTypes ${'@a '.repeat(900)} }` })],
    [
      'many connections',
      'CONNECTIONS',
      () => ({
        query: `{ subscriptions(first: 1) { nodes { ${list(29, (n) => `a${n}: notifications(first: 1) { totalCount }`)} n: notifications(first: 1) { nodes { attempts { totalCount } } } } } }`,
      }),
    ],
    ['a page', 'PAGE', () => ({ query: `{ subscriptions(first: ${LIMITS.PAGE + 1}) { totalCount } }` })],
    ['a page from the end', 'PAGE', () => ({ query: `{ subscriptions(last: 100000) { totalCount } }` })],
    [
      'a page in a variable',
      'PAGE',
      () => ({ query: 'query ($n: Int) { subscriptions(first: $n) { totalCount } }', variables: { n: 2_147_483_647 } }),
    ],
    [
      'a page as the default of a variable',
      'PAGE',
      () => ({ query: 'query ($n: Int = 5000) { subscriptions(first: $n) { totalCount } }' }),
    ],
    ['an offset', 'OFFSET', () => ({ query: `{ subscriptions(offset: ${LIMITS.OFFSET + 1}) { totalCount } }` })],
    [
      'pages inside pages',
      'COST',
      () => ({
        query: '{ subscriptions(first: 100) { nodes { notifications(first: 100) { nodes { id type status } } } } }',
      }),
    ],
    [
      'pages inside pages, __typename alone',
      'COST',
      () => ({
        query: '{ subscriptions(first: 1000) { nodes { notifications(first: 1000) { nodes { __typename } } } } }',
      }),
    ],
    [
      'pages inside pages, through fragments and edges',
      'COST',
      () => ({
        query: `{ subscriptions(first: 100) { edges { node { ...S } } } } fragment S on Subscription { notifications(last: 100) { edges { node { ...N } } } } fragment N on Notification { attempts(first: 10) { totalCount } }`,
      }),
    ],
    [
      'fields inside fields of introspection',
      'INTROSPECTION_COST',
      () => ({
        query: `{ __schema { types { fields { args { type { fields { args { type { name kind description } } } } } } } } }`,
      }),
    ],
    [
      'introspection many times',
      'INTROSPECTION_COST',
      () => ({
        query: `{ ${list(6, (n) => `a${n}: __schema { types { fields { args { ...T } type { name } } } }`)} } fragment T on __InputValue { name description type { ${ofType(7)} } }`,
      }),
    ],
    [
      'a huge list in variables',
      'VARIABLE_VALUES',
      () => ({
        query: 'query ($ids: [UUID!]) { subscriptions(filter: {id: {in: $ids}}) { totalCount } }',
        variables: { ids: Array(1_200).fill('0f8fad5b-d9cb-469f-a165-70867728950e') },
      }),
    ],
    ['unknown fragments', 'SPREADS', () => ({ query: `{ ${list(900, (n) => `...F${n}`)} }` })],
    [
      'introspection that goes round in circles',
      'INTROSPECTION_DEPTH',
      () => ({ query: `{ __schema { types { ${typeBomb(3)} } } }` }),
    ],
    [
      'extra headers many times',
      'COST',
      () => ({
        query: `{ subscriptions(first: 600) { nodes { ${list(10, (n) => `e${n}: extraHeaders { name value }`)} } } }`,
      }),
    ],
    [
      'URLs many times',
      'COST',
      () => ({ query: `{ subscriptions(first: 600) { nodes { ${list(28, (n) => `u${n}: url`)} } } }` }),
    ],
    ['deep variables', 'VARIABLE_DEPTH', () => ({ query: '{ webhookTypes }', variables: { a: deepJson(20) } })],
  ];

  for (const [name, limit, make] of over) {
    test(`${name}: 400, the message names ${limit}, and nothing waits`, async () => {
      const answer = await withHeartbeat(() => post(make()));
      assert.equal(answer.status, 400, answer.text);
      const [error] = answer.body.errors;
      assert.equal(error.extensions?.limit, limit, answer.text);
      assert.ok(error.message.includes(`${LIMITS[limit]} (${limit})`), error.message);
      assert.equal('data' in answer.body, false);
    });
  }

  test('the documentation has every limit with its value', () => {
    const page = readFileSync(new URL('../../../docs/graphql.md', import.meta.url), 'utf8');
    for (const [name, value] of Object.entries(LIMITS)) assert.ok(page.includes(`| ${name} | ${value} |`), name);
  });

  test('very deep variables', async () => {
    const deep = 20_000;
    const raw = `{"query": "{ webhookTypes }", "variables": {"a": ${'['.repeat(deep)}${']'.repeat(deep)}}}`;
    const answer = await withHeartbeat(() =>
      call(`${service.api}/webhooks/graphql?client_id=${world.clientId}`, 'POST', {
        token: world.token,
        raw,
        headers: { 'content-type': 'application/json' },
      }),
    );
    assert.equal(answer.status, 400);
    assert.equal(answer.body.errors[0].extensions.limit, 'VARIABLE_DEPTH');
  });

  test('circular fragments', async () => {
    for (const query of [
      '{ ...A } fragment A on Query { ...A }',
      '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }',
      '{ webhookTypes } fragment A on Query { subscriptions { nodes { ...S } } } fragment S on Subscription { notifications { nodes { ...N } } } fragment N on Notification { ...N }',
    ]) {
      const answer = await withHeartbeat(() => post({ query }));
      assert.equal(answer.status, 400);
      assert.match(answer.body.errors[0].message, /contains itself/);
    }
  });

  test('introspection that goes round in circles', async () => {
    for (const query of [
      `{ __schema { types { ${typeBomb(4)} } } }`,
      `{ __type(name: "Query") { ${typeBomb(5)} } }`,
      `{ __schema { types { ${ofTypes(5)} } } }`,
    ]) {
      const answer = await withHeartbeat(() => post({ query }));
      assert.equal(answer.status, 400, answer.text.slice(0, 300));
    }
  });

  test('a body that is too large: 413, and it names the limit', async () => {
    const answer = await withHeartbeat(() =>
      post({ query: '{ webhookTypes }', variables: { a: 'x'.repeat(LIMITS.BODY_BYTES) } }),
    );
    assert.equal(answer.status, 413);
    assert.match(answer.body.details, /1048576.*BODY_BYTES/);
  });

  test('a batch of operations is refused as a whole', async () => {
    const answer = await withHeartbeat(() => post(Array(500).fill({ query: '{ webhookTypes }' })));
    assert.equal(answer.status, 400);
    assert.match(answer.body.errors[0].message, /batching/);
  });

  test('what a message repeats of the request is cut', async () => {
    const answer = await post({
      query: 'query ($id: UUID!) { subscriptions(filter: {id: {equalTo: $id}}) { totalCount } }',
      variables: { id: 'x'.repeat(500_000) },
    });
    assert.equal(answer.status, 400);
    assert.ok(answer.text.length < 2_000);
  });

  test('the headers of an answer stay within their bytes, however often they are asked for', async () => {
    const subscriber = await createSubscriber(service);
    const id = await subscriber.subscribe();
    await subscriber.history(id, 200, 1);
    await service.query(
      `update attempts set headers = json_build_object('x-a', repeat('"\\', 8000)) where client_id = $1`,
      [subscriber.clientId],
    );
    const query = (first: number, fields: string) =>
      `{ subscriptions { nodes { notifications(first: ${first}) { nodes { attempts(first: 1) { nodes { statusCode ${fields} } } } } } } }`;
    // biome-ignore lint/suspicious/noExplicitAny: answers are read freely
    const attempts = (data: any) =>
      // biome-ignore lint/suspicious/noExplicitAny: the same
      data.subscriptions.nodes[0].notifications.nodes.map((one: any) => one.attempts.nodes[0]);
    const small = await withHeartbeat(() => subscriber.graphql(query(60, 'headers')));
    assert.equal(small.errors, undefined, small.text.slice(0, 500));
    assert.deepEqual(attempts(small.data)[59].headers, { 'x-a': '"\\'.repeat(8_000) });
    for (const large of [query(200, 'headers'), query(60, 'a: headers b: headers')]) {
      const answer = await withHeartbeat(() => subscriber.graphql(large));
      assert.equal(answer.errors?.[0].extensions.limit, 'RESPONSE_HEADER_BYTES', answer.text.slice(0, 500));
      assert.equal(attempts(answer.data)[0].statusCode, 200);
    }
    // Two reads of one request share what there is.
    const both = await subscriber.graphql(
      `{ a: ${query(40, 'headers').slice(1, -1)} b: ${query(41, 'headers').slice(1, -1)} }`,
    );
    assert.equal(both.errors?.[0].extensions.limit, 'RESPONSE_HEADER_BYTES');
  });

  test('bodies count as they are answered: escaped, and as often as they are asked for', async () => {
    const subscriber = await createSubscriber(service);
    const id = await subscriber.subscribe();
    await subscriber.history(id, 120, 1);
    await service.query('update attempts set body = repeat(chr(1), 65536) where client_id = $1', [subscriber.clientId]);
    const query = (first: number, fields: string) =>
      `{ subscriptions { nodes { notifications(first: ${first}) { nodes { attempts(first: 1) { nodes { ${fields} } } } } } } }`;
    assert.equal((await subscriber.graphql(query(20, 'body'))).errors, undefined);
    for (const large of [query(25, 'body'), query(11, 'a: body b: body')]) {
      const answer = await withHeartbeat(() => subscriber.graphql(large));
      assert.equal(answer.errors?.[0].extensions.limit, 'RESPONSE_BODY_BYTES');
    }
  });

  test('the body of one event counts for each of its notifications', async () => {
    const subscriber = await createSubscriber(service);
    for (let n = 0; n < 20; n += 1) await subscriber.subscribe();
    await service.query(
      `with event as (
         insert into webhook_events (client_id, type, body, created_at)
         values ($1, 'TRADE_STATUS_CHANGE', repeat('x', 1000000), now()) returning id, created_at)
       insert into notifications (id, client_id, subscription_id, event_id, type, status, attempts_count, created_at)
       select notification_id(e.id, s.id, e.created_at), $1, s.id, e.id, 'TRADE_STATUS_CHANGE', 'delivered', 1, e.created_at
       from event e, subscriptions s where s.client_id = $1`,
      [subscriber.clientId],
    );
    const answer = await withHeartbeat(() =>
      subscriber.graphql('{ subscriptions(first: 20) { nodes { notifications(first: 1) { nodes { body } } } } }'),
    );
    assert.equal(answer.errors?.[0].extensions.limit, 'RESPONSE_BODY_BYTES');
    const few = await subscriber.graphql(
      '{ subscriptions(first: 5) { nodes { notifications(first: 1) { nodes { body } } } } }',
    );
    assert.equal(few.data.subscriptions.nodes[4].notifications.nodes[0].body.length, 1_000_000);
  });

  test('the bodies of an answer stay within their bytes', async () => {
    const subscriber = await createSubscriber(service);
    const id = await subscriber.subscribe();
    await subscriber.history(id, 150, 1);
    await service.query("update attempts set body = repeat('x', 65536) where client_id = $1", [subscriber.clientId]);
    const query = (first: number) =>
      `{ subscriptions { nodes { notifications(first: ${first}) { nodes { attempts(first: 1) { nodes { statusCode body } } } } } } }`;
    const small = await subscriber.graphql(query(100));
    assert.equal(small.errors, undefined);
    assert.equal(small.data.subscriptions.nodes[0].notifications.nodes[99].attempts.nodes[0].body.length, 65_536);
    const large = await withHeartbeat(() => subscriber.graphql(query(150)));
    assert.equal(large.status, 200);
    assert.equal(large.errors?.[0].extensions.limit, 'RESPONSE_BODY_BYTES');
    assert.ok((large.errors?.length ?? 0) <= 20);
    assert.equal(large.data.subscriptions.nodes[0].notifications.nodes[0].attempts.nodes[0].statusCode, 200);
  });

  describe('what is within', () => {
    test('the introspection of common tools', async () => {
      const answer = await withHeartbeat(() =>
        post({
          query: getIntrospectionQuery({
            inputValueDeprecation: true,
            schemaDescription: true,
            specifiedByUrl: true,
            directiveIsRepeatable: true,
            oneOf: true,
          }),
        }),
      );
      assert.equal(answer.status, 200);
      assert.equal(answer.body.errors, undefined);
    });

    test('everything of a subscription with no page named: pages shrink where they are nested', async () => {
      const { data, errors } = await world.graphql(
        `{ subscriptions { totalCount pageInfo { hasNextPage } nodes { id url active secret types extraHeaders { name value } createdAt
          notifications { totalCount pageInfo { hasNextPage } nodes { id type status body createdAt attempts { totalCount nodes { attemptNumber startedAt statusCode headers body durationMs reason } } } } } } }`,
      );
      assert.equal(errors, undefined);
      const { notifications } = data.subscriptions.nodes[0];
      assert.equal(notifications.totalCount, 30);
      assert.ok(notifications.nodes.length >= 5);
      assert.equal(notifications.pageInfo.hasNextPage, notifications.nodes.length < 30);
      assert.equal(notifications.nodes[0].attempts.nodes.length, 2);
    });

    test('a hundred entries where one connection is asked', async () => {
      const { data } = await world.graphql('{ subscriptions { nodes { notifications { nodes { id } } } } }');
      assert.equal(data.subscriptions.nodes[0].notifications.nodes.length, 30);
    });

    test('the widest operation that the limits let through', async () => {
      const answer = await withHeartbeat(() =>
        post({
          query: `{ ${list(10, (n) => `a${n}: subscriptions(first: 2) { totalCount nodes { id url active types createdAt notifications(first: 2) { totalCount nodes { id type status createdAt attempts(first: 2) { totalCount nodes { attemptNumber statusCode } } } } } }`)} }`,
        }),
      );
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.errors, undefined);
    });
  });
});
