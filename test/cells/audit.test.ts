import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { migrate } from '../../src/database/migrate.ts';
import { createWorld } from '../world/client.ts';
import { createClusterDatabase, createEmptyDatabase, log, type TestDatabase } from '../world/database.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/**
 * The audit trail of several cells is one chain, and each cell takes rows of its own clients only (docs/decisions/0016, 0022): in one PostgreSQL,
 * or on a Citus cluster.
 */
const CELLS = 3;
let database: TestDatabase;
let distributed: boolean;
let service: TestService;
let pool: pg.Pool;
const worlds: Awaited<ReturnType<typeof createWorld>>[] = [];

before(async () => {
  const cluster = await createClusterDatabase();
  distributed = cluster !== undefined;
  database = cluster ?? (await createEmptyDatabase());
  await migrate(database.url, log, { cells: CELLS, trialCells: true });
  service = await startTestService({}, { url: database.url, drop: async () => {} });
  pool = new pg.Pool({ connectionString: database.url, max: 2 });
  pool.on('error', () => {});
  // One after the other: two that are created at once may go to one cell.
  for (const name of ['First', 'Second', 'Third']) worlds.push(await createWorld(service, name));
});
after(async () => {
  await service?.stop();
  await pool?.end();
  await database.drop();
});

interface Row {
  position: number;
  id: number;
  client_id: string | null;
}

const verify = async (query = '') => (await service.operator('GET', `/audit/verify${query}`)).body;

async function readAll(query = ''): Promise<Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const page = await service.operator('GET', `/audit?after=${rows.at(-1)?.position ?? 0}&limit=7${query}`);
    assert.equal(page.status, 200, page.text);
    rows.push(...page.body);
    if (page.body.length < 7) return rows;
  }
}

const cellOf = ({ id }: Row) => Math.floor(id / 10 ** 12);

async function schemaOf(world: { clientId: string }): Promise<string> {
  const { rows } = await pool.query('select cell from clients where client_id = $1', [world.clientId]);
  return `public_cell_${rows[0].cell}`;
}

test('the rows of all cells have one chain, and a cursor that follows it misses none', async () => {
  const seen: Row[] = [];
  let writing = true;
  const writers = worlds.map(async (world) => {
    for (let amount = 1; amount <= 8; amount += 1) assert.equal((await world.pay({ amount })).status, 201);
  });
  const reading = (async () => {
    while (writing) {
      const page = await service.operator('GET', `/audit?after=${seen.at(-1)?.position ?? 0}&limit=50`);
      // A busy machine may not answer in time.
      if (page.status === 200) seen.push(...page.body);
    }
  })();
  await Promise.all(writers);
  writing = false;
  await reading;
  const rows = await readAll();
  assert.deepEqual(
    rows.map(({ position }) => position),
    rows.map((_, index) => index + 1),
  );
  assert.deepEqual(
    seen.map(({ id }) => id),
    rows.slice(0, seen.length).map(({ id }) => id),
  );
  assert.deepEqual([...new Set(rows.map(cellOf))].sort(), [0, 1, 2, 3]);
  const { rows: written } = await pool.query('select count(*)::int as n from public_cells.audit');
  assert.equal(rows.length, written[0].n);
  const proof = await verify();
  assert.deepEqual([proof.valid, proof.rows, proof.head.position], [true, rows.length, rows.length]);
});

test('filters and pages cover all cells', async () => {
  const [world] = worlds as [(typeof worlds)[0]];
  const own = await readAll(`&client_id=${world.clientId}`);
  assert.ok(own.length > 10);
  // What a client has written stays where it was when it lives elsewhere.
  await pool.query('update clients set cell = cell % $2 + 1 where client_id = $1', [world.clientId, CELLS]);
  assert.deepEqual(await readAll(`&client_id=${world.clientId}`), own);
  await pool.query('update clients set cell = (cell + 1) % $2 + 1 where client_id = $1', [world.clientId, CELLS]);
  const page = await service.operator('GET', `/audit?client_id=${world.clientId}&page_size=1000&order=desc`);
  assert.deepEqual(
    page.body.map(({ id }: Row) => id),
    own.map(({ id }) => id).reverse(),
  );
  assert.equal(page.headers.get('x-total-count'), String(own.length));
});

test('one head a minute is over all cells', async () => {
  const heads = async () => (await service.operator('GET', '/audit/heads')).body;
  await service.operator('PUT', '/clock', { advance_seconds: 61 });
  await worlds[1]?.pay({ amount: 3 });
  const end = (await verify()).head.position;
  await service.operator('PUT', '/clock', { advance_seconds: 61 });
  await until(async () => (await heads())[0]?.position >= end);
  const [head] = await heads();
  assert.equal((await verify(`?head=${head.position}:${head.hash}`)).valid, true);
  assert.equal((await verify(`?head=${head.position - 1}:${head.hash}`)).fault.what, 'head_differs');
  const minutes = (await heads()).map(({ at }: { at: string }) => at.slice(0, 16));
  assert.equal(new Set(minutes).size, minutes.length, 'no cell has a head of its own');
});

test('each cell takes rows of its own clients only', async () => {
  const [first, second] = worlds as [(typeof worlds)[0], (typeof worlds)[0]];
  const [own, other] = [await schemaOf(first), await schemaOf(second)];
  // A worker does not know the clients.
  for (const wrong of distributed ? ['public'] : ['public', other]) {
    await assert.rejects(
      pool.query(
        `insert into ${wrong}.approver_refreshes select * from (select (jsonb_populate_record(null::${wrong}.approver_refreshes,
           jsonb_build_object('client_id', $1::text))).*) r`,
        [first.clientId],
      ),
      /the client \S+ lives in cell \d, and cell \d was about to get a row of it in approver_refreshes/,
      wrong,
    );
  }
  assert.notEqual(own, other);
});

async function disableTriggers(table: string): Promise<void> {
  if (!distributed) return void (await pool.query(`alter table ${table} disable trigger all`));
  const { rows } = await pool.query(
    `select result from run_command_on_placements($1::regclass, 'alter table %s disable trigger all') where not success`,
    [table],
  );
  assert.deepEqual(rows, []);
}

test('what was changed, removed or cut off in a cell is found', async () => {
  const end: number = (await verify()).head.position;
  const [row] = (await readAll(`&client_id=${worlds[2]?.clientId}`)) as [Row];
  const schema = `public_cell_${cellOf(row)}`;
  await disableTriggers(`${schema}.audit`);
  const change = (actor: string) => pool.query(`update ${schema}.audit set actor = $2 where id = $1`, [row.id, actor]);
  await change('nobody');
  const changed = await verify();
  assert.deepEqual([changed.valid, changed.first_invalid, changed.fault.what], [false, row.id, 'row_changed']);
  await change('operator:configured');
  assert.equal((await verify()).fault, null);

  const cut = 'delete from public_cell_1.audit_chain where position > $1 returning position';
  await disableTriggers('public_cell_1.audit');
  const { rows: gone } = await pool.query(cut, [end - 20]);
  await pool.query(
    'delete from public_cell_1.audit a where not exists (select from public_cell_1.audit_chain c where c.audit_id = a.id) and a.id > $1',
    [10 ** 12],
  );
  const found = await verify();
  assert.equal(found.valid, false);
  const first = Math.min(...gone.map(({ position }) => Number(position)));
  assert.deepEqual([found.fault.what, found.fault.position], ['row_missing', first]);
});
