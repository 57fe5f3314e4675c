import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createSubscriber } from '../../world/graphql.ts';
import { startTestService, type TestService } from '../../world/service.ts';

const COUNT = 7;
const PAGE = `query ($first: Int, $last: Int, $before: Cursor, $after: Cursor, $offset: Int, $orderBy: [SubscriptionOrderBy!], $filter: SubscriptionFilter) {
  subscriptions(first: $first, last: $last, before: $before, after: $after, offset: $offset, orderBy: $orderBy, filter: $filter) {
    totalCount
    nodes { id }
    edges { cursor node { id } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

describe('GraphQL connections (the cursor-connection specification)', () => {
  let service: TestService;
  let world: Awaited<ReturnType<typeof createSubscriber>>;
  /** Ids in the order of creation. */
  const ids: string[] = [];
  before(async () => {
    service = await startTestService();
    world = await createSubscriber(service);
    for (let n = 0; n < COUNT; n++)
      ids.push(await world.subscribe({ active: n % 2 === 0, url: `https://receiver.example/${n}` }));
    // Two of one moment: their order is the ids', and no page repeats or skips one of them.
    await service.query(
      `update subscriptions set created_at = (select created_at from subscriptions where id = $1) where id = $2`,
      [ids[2], ids[3]],
    );
    const moment = [ids[2], ids[3]].sort() as [string, string];
    ids.splice(2, 2, ...moment);
  });
  after(() => service.stop());

  const page = async (variables: object) => {
    const { data, errors } = await world.graphql(PAGE, variables);
    assert.equal(errors, undefined, JSON.stringify(errors));
    const connection = data.subscriptions;
    // What must hold for every page.
    const listed = connection.nodes.map((node: { id: string }) => node.id);
    assert.deepEqual(
      connection.edges.map((edge: { node: { id: string } }) => edge.node.id),
      listed,
    );
    const cursors = connection.edges.map((edge: { cursor: string }) => edge.cursor);
    assert.equal(connection.pageInfo.startCursor, cursors[0] ?? null);
    assert.equal(connection.pageInfo.endCursor, cursors.at(-1) ?? null);
    assert.equal(new Set(cursors).size, cursors.length);
    return {
      ids: listed as string[],
      cursors: cursors as string[],
      total: connection.totalCount as number,
      ...connection.pageInfo,
    } as {
      ids: string[];
      cursors: string[];
      total: number;
      hasNextPage: boolean;
      hasPreviousPage: boolean;
    };
  };

  test('without arguments: all, in the order of creation', async () => {
    const all = await page({});
    assert.deepEqual(all.ids, ids);
    assert.equal(all.total, COUNT);
    assert.equal(all.hasNextPage, false);
    assert.equal(all.hasPreviousPage, false);
  });

  for (const size of [1, 2, 3, 4, 7, 8]) {
    test(`forwards by ${size}: every one once, and hasNextPage until the last`, async () => {
      const seen: string[] = [];
      let after: string | undefined;
      for (;;) {
        const part = await page({ first: size, after });
        assert.equal(part.total, COUNT);
        seen.push(...part.ids);
        assert.equal(part.hasNextPage, seen.length < COUNT);
        if (!part.hasNextPage) break;
        assert.equal(part.ids.length, size);
        after = part.cursors.at(-1);
      }
      assert.deepEqual(seen, ids);
    });

    test(`backwards by ${size}: every one once, and hasPreviousPage until the first`, async () => {
      const seen: string[] = [];
      let before: string | undefined;
      for (;;) {
        const part = await page({ last: size, before });
        seen.unshift(...part.ids);
        assert.equal(part.hasPreviousPage, seen.length < COUNT);
        if (!part.hasPreviousPage) break;
        before = part.cursors[0];
      }
      assert.deepEqual(seen, ids);
    });
  }

  test('after and before together: what stands between', async () => {
    const { cursors } = await page({});
    assert.deepEqual((await page({ after: cursors[1], before: cursors[5] })).ids, ids.slice(2, 5));
    assert.deepEqual((await page({ first: 2, after: cursors[1], before: cursors[5] })).ids, ids.slice(2, 4));
    assert.deepEqual((await page({ last: 2, after: cursors[1], before: cursors[5] })).ids, ids.slice(3, 5));
  });

  test('offset, also after a cursor', async () => {
    assert.deepEqual((await page({ first: 2, offset: 3 })).ids, ids.slice(3, 5));
    const { cursors } = await page({});
    assert.deepEqual((await page({ first: 2, offset: 1, after: cursors[0] })).ids, ids.slice(2, 4));
    assert.deepEqual((await page({ first: 2, offset: 100 })).ids, []);
  });

  test('first: 0 is an empty page, with the count of all', async () => {
    const none = await page({ first: 0 });
    assert.deepEqual(none.ids, []);
    assert.equal(none.total, COUNT);
  });

  test('orderBy, and cursors of that order', async () => {
    const newest = await page({ orderBy: ['CREATED_AT_DESC'], first: 3 });
    assert.deepEqual(newest.ids.slice(0, 3), [ids[6], ids[5], ids[4]]);
    const next = await page({ orderBy: ['CREATED_AT_DESC'], first: 10, after: newest.cursors[2] });
    assert.deepEqual([...newest.ids, ...next.ids].sort(), [...ids].sort());
    const byId = await page({ orderBy: ['PRIMARY_KEY_ASC'] });
    assert.deepEqual(byId.ids, [...ids].sort());
    const literal = await world.graphql('{ subscriptions(first: 1, orderBy: CREATED_AT_DESC) { nodes { id } } }');
    assert.equal(literal.data.subscriptions.nodes[0].id, ids[6]);
    const other = await world.graphql(PAGE, { after: newest.cursors[0], orderBy: ['PRIMARY_KEY_ASC'] });
    assert.match(other.errors?.[0].message, /cursor/);
  });

  test('filter: totalCount and pages are of what it lets through', async () => {
    const active = await page({ filter: { active: { equalTo: true } }, first: 2 });
    assert.equal(active.total, 4);
    assert.equal(active.hasNextPage, true);
    const inactive = await page({ filter: { active: { equalTo: false } } });
    assert.equal(inactive.total, 3);
    assert.deepEqual(
      [...(await page({ filter: { active: { equalTo: true } } })).ids, ...inactive.ids].sort(),
      [...ids].sort(),
    );
    assert.deepEqual((await page({ filter: { id: { in: [ids[0], ids[4]] } } })).ids, [ids[0], ids[4]]);
    assert.deepEqual((await page({ filter: { types: { anyEqualTo: 'DEBIT_TRANSACTION' } } })).ids, []);
    assert.equal((await page({ filter: {} })).total, COUNT);
    assert.equal((await page({ filter: null })).total, COUNT);
    assert.equal((await page({ filter: { active: null } })).total, COUNT);
  });

  test('a cursor that is none is refused', async () => {
    for (const after of ['x', '', 'WzFd', Buffer.from('["a","b","c"]').toString('base64')]) {
      const answer = await world.graphql(PAGE, { after });
      assert.equal(answer.status, 200);
      assert.equal(answer.data.subscriptions, null);
      assert.match(answer.errors?.[0].message, /cursor|value/i);
    }
  });

  test('negative sizes are refused, and last with offset', async () => {
    for (const variables of [{ first: -1 }, { last: -1 }, { offset: -1 }, { last: 1, offset: 1 }]) {
      const { errors } = await world.graphql(PAGE, variables);
      assert.ok(errors?.[0].message, JSON.stringify(variables));
    }
  });

  test('nested connections page as well, each for its own node', async () => {
    const [one, other] = ids as [string, string];
    await world.history(one, 5, 3);
    await world.history(other, 2, 1);
    const query = `query ($after: Cursor) {
      subscriptions(first: 2) {
        nodes { id notifications(first: 2, after: $after, orderBy: CREATED_AT_DESC) {
          totalCount
          pageInfo { hasNextPage endCursor }
          nodes { id body createdAt attempts(last: 2) { totalCount pageInfo { hasPreviousPage } nodes { attemptNumber body statusCode headers durationMs } } }
        } }
      }
    }`;
    const { data } = await world.graphql(query);
    const [first, second] = data.subscriptions.nodes;
    assert.equal(first.notifications.totalCount, 5);
    assert.deepEqual(
      first.notifications.nodes.map((node: { body: string }) => node.body),
      ['{"n":1}', '{"n":2}'],
    );
    assert.equal(first.notifications.pageInfo.hasNextPage, true);
    assert.deepEqual(first.notifications.nodes[0].attempts, {
      totalCount: 3,
      pageInfo: { hasPreviousPage: true },
      nodes: [2, 3].map((n) => ({
        attemptNumber: n,
        body: `ok ${n}`,
        statusCode: 200,
        headers: { 'x-answer': 'yes' },
        durationMs: 12,
      })),
    });
    assert.equal(second.notifications.totalCount, 2);
    assert.equal(second.notifications.pageInfo.hasNextPage, false);
    const next = await world.graphql(query, { after: first.notifications.pageInfo.endCursor });
    assert.deepEqual(
      next.data.subscriptions.nodes[0].notifications.nodes.map((node: { body: string }) => node.body),
      ['{"n":3}', '{"n":4}'],
    );
  });
});
