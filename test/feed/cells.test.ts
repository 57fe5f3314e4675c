import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { readPaths } from '../../src/database/cells/cell.ts';
import { poolOf } from '../../src/database/cells/pool.ts';
import type { Pool } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { createPool } from '../../src/database/pools.ts';
import { publishChanges } from '../../src/feed/publisher.ts';
import { present } from '../../src/values/unknown.ts';
import { createWorld } from '../world/client.ts';
import { createClusterDatabase, createEmptyDatabase, log } from '../world/database.ts';
import { type Change, copyOf } from '../world/feed-copy.ts';
import { startTestService, type TestService } from '../world/service.ts';

/**
 * The order of the feed over several cells. Nobody publishes here but the test, which takes the cells in the order that would part a change
 * from its cause.
 */
let service: TestService;
let pool: Pool;
before(async () => {
  const database = (await createClusterDatabase()) ?? (await createEmptyDatabase());
  await migrate(database.url, log, { cells: 2, trialCells: true });
  service = await startTestService({ LOMBARD_ROLES: 'api,auth,operator' }, database);
  pool = createPool(database.url, log, {
    max: 2,
    background: true,
    cells: await readPaths(service.service.context.pool),
  });
});
after(async () => {
  await pool?.end();
  await service?.stop();
});

type World = Awaited<ReturnType<typeof createWorld>>;
const cellOf = async ({ clientId }: World): Promise<number> =>
  (await service.query('select cell from clients where client_id = $1', [clientId])).rows[0].cell;
/** Publishes cells one after the other. */
const publish = async (...cells: number[]) => {
  for (const cell of cells) await publishChanges({ cell: poolOf(pool, cell), order: poolOf(pool, 0) }, new Date());
};
/** All changes, or those after a cursor. */
const feed = async (after?: string): Promise<Change[]> => {
  const answer = await service.operator('GET', `/changes?limit=1000${after === undefined ? '' : `&after=${after}`}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body.changes;
};
const outline = (changes: readonly Change[]) =>
  changes.map(({ entity, version, action }) => `${entity} ${version} ${action}`);

let world: World;
let cell: number;
let start: string;
beforeEach(async () => {
  world = await createWorld(service);
  cell = await cellOf(world);
  await publish(0, 1, 2);
  start = (await service.operator('GET', '/changes?after=now')).body.cursor;
});

const imports = async (kind: string, ...lines: object[]) => {
  const answer = await fetch(`${service.operatorUrl}/imports/${kind}?on_conflict=update`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.operatorToken}`, 'content-type': 'application/x-ndjson' },
    body: lines.map((line) => JSON.stringify(line)).join('\n'),
  });
  const text = await answer.text();
  assert.equal(JSON.parse(text).accepted, lines.length, text);
};
const DEAL = { buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 1_000, rate: 1.17 };

test('a record that was imported, and then changed in its cell', async () => {
  const { clientId: client_id, contactId: contact_id } = world;
  await imports('trades', { client_id, contact_id, ...DEAL, trade_id: `TRD-${client_id}` });
  const moved = await service.operator('PATCH', `/trades/TRD-${client_id}`, { status: 'Funds In Full' });
  assert.equal(moved.status, 200, moved.text);
  await publish(cell, 0);
  assert.deepEqual(outline(await feed(start)), ['trade 1 import', 'trade 2 update']);
  copyOf(await feed());
});

test('a record that was changed in its cell, then by an import, and then in its cell again', async () => {
  const path = `/trades/${world.tradeId}`;
  assert.equal((await service.operator('PATCH', path, { status: 'Funds In Full' })).status, 200);
  await imports('trades', { trade_id: world.tradeId, status: 'Created' });
  assert.equal((await service.operator('PATCH', path, { status: 'Funds In Full' })).status, 200);
  await publish(0, cell);
  assert.deepEqual(outline(await feed(start)), ['trade 2 update', 'trade 3 update', 'trade 4 update']);
  copyOf(await feed());
});

test('a client that is imported again between two changes', async () => {
  const rename = async (client_name: string) => {
    const renamed = await service.operator('PATCH', `/clients/${world.clientId}`, { client_name });
    assert.equal(renamed.status, 200, renamed.text);
  };
  await rename('Second');
  await imports('clients', { client_id: world.clientId, client_name: 'Third' });
  await rename('Fourth');
  await publish(0, cell);
  assert.deepEqual(outline(await feed(start)), ['client 2 update', 'client 3 update', 'client 4 update']);
  copyOf(await feed());
});

test('what exists once comes before what its cell makes of it', async () => {
  const { contactId: contact_id } = await world.hire('Newcomer');
  const paid = await world.pay({ contact_id });
  assert.equal(paid.status, 201, paid.text);
  await publish(cell);
  assert.deepEqual(outline(await feed(start)).slice(0, 2), ['contact 1 create', 'payment 1 create']);
});

test('a client comes before its contact, which exists once', async () => {
  const other = await createWorld(service, 'Newcomers');
  const home = await cellOf(other);
  // The cell of the client is read late.
  await publish(0, home);
  assert.deepEqual(outline(await feed(start)).slice(0, 2), ['client 1 create', 'contact 1 create']);
  const client_id = `IMPORTED-${other.clientId}`;
  await imports('clients', { client_id, client_name: 'Imported' });
  await imports('contacts', { name: 'Ida', email: `ida@${home}.example.com`, clients: [{ client_id }] });
  await publish(0, 1, 2);
  assert.deepEqual(outline((await feed(start)).slice(-2)), ['client 1 import', 'contact 1 import']);
  copyOf(await feed());
});

test('a change of several cells stays together, and comes after what those cells had', async () => {
  const other = await createWorld(service, 'Other');
  assert.notEqual(await cellOf(other), cell);
  const worlds = [world, other];
  const move = async (status: string) => {
    for (const { tradeId } of worlds)
      assert.equal((await service.operator('PATCH', `/trades/${tradeId}`, { status })).status, 200);
  };
  await move('Funds In Full');
  await imports('trades', ...worlds.map(({ tradeId }) => ({ trade_id: tradeId, status: 'Created' })));
  await move('Funds In Full');
  await publish(await cellOf(other), cell, 0);
  const changes = await feed(start);
  copyOf(await feed());
  const versions = changes.flatMap(({ entity, version }) => (entity === 'trade' && version > 1 ? [version] : []));
  assert.deepEqual(versions, [2, 2, 3, 3, 4, 4]);
  const together = changes.flatMap(({ entity, version }, index) =>
    entity === 'trade' && version === 3 ? [index] : [],
  );
  assert.equal(present(together[1]) - present(together[0]), 1, 'nothing lies between');
});
