import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listAuditAfter } from '../../src/audit/list.ts';
import { poolOf } from '../../src/database/cells/pool.ts';
import { cellOfNumber } from '../../src/database/cells/scope.ts';
import { lombard } from '../world/command.ts';
import { nodesOf, rowsRead } from '../world/plans.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** Reading the trail by pages and by cursor, its filters, and its export. */

let service: TestService;
let cell: number;
const ROWS = 400_000;
const DAY_MS = 86_400_000;

before(async () => {
  service = await startTestService({ LOMBARD_ROLES: 'api,auth,operator' });
  await service.operator('GET', '/audit/verify');
  await service.query('alter table audit disable trigger all');
  await service.query('delete from audit');
  await service.query('delete from audit_chain');
  // As the sealer writes them, but for the hashes: the lists do not look at these.
  await service.query(
    `with made as (insert into audit (at, actor, request_id, action, entity, entity_id, client_id)
       select timestamptz '2026-01-01Z' + i * interval '1 minute', 'operator:' || i % 50, 'r', 'create',
         case when i % 20000 = 0 then 'clock' else 'payment' end, 'PAY' || i / 4, 'CLI' || i % 1000
       from generate_series(1, ${ROWS}) i returning *)
     insert into audit_chain select row_number() over (order by at), id, at, at, false, entity, entity_id, client_id, actor, '\\x00' from made`,
  );
  await service.query(
    'update audit_end set (position, hash, latest_at) = (select position, hash, latest_at from audit_chain order by position desc limit 1)',
  );
  await service.query('alter table audit enable trigger all');
  await service.query('vacuum (analyze)');
  const { rows } = await service.query('select max(id) as id from audit');
  cell = cellOfNumber(Number(rows[0].id));
});
after(() => service.stop());

const read = async (query: string) => (await service.operator('GET', `/audit?${query}`)).body;

test('a cursor reads everything once, in order, with what is written meanwhile', async () => {
  const positions: number[] = [];
  const from = '2026-09-01T00:00:00Z';
  for (let after = 0; ; ) {
    const rows = await read(`after=${after}&limit=1000&from=${from}`);
    positions.push(...rows.map((row: { position: number }) => row.position));
    after = rows.at(-1)?.position ?? after;
    if (rows.length < 1000) break;
    if (positions.length === 3000) await service.operator('POST', '/clients', { client_name: 'Meanwhile' });
  }
  assert.deepEqual(
    positions,
    [...positions].sort((a, b) => a - b),
  );
  const { rows } = await service.query('select count(*)::int as rows from audit where at >= $1', [from]);
  assert.equal(new Set(positions).size, rows[0].rows);
});

test('each filter', async () => {
  const payment = await read('entity=payment&entity_id=PAY5000&limit=10');
  assert.equal(payment.length, 3);
  assert.equal((await read('entity_id=PAY5000&limit=10')).length, 4);
  assert.deepEqual(
    new Set((await read('client_id=CLI7&limit=1000')).map((row: { client_id: string }) => row.client_id)),
    new Set(['CLI7']),
  );
  const byToken = await read('actor=operator:9&limit=20');
  assert.ok(byToken.every((row: { actor: string }) => row.actor === 'operator:9'));
  assert.deepEqual(await read('actor=token:9&limit=20'), byToken, 'the name that the change feed gives a token');
  const range = await read('from=2026-03-01T00:00:00Z&to=2026-03-01T00:05:00Z&limit=1000');
  assert.deepEqual(
    range.map((row: { at: string }) => row.at),
    [0, 1, 2, 3, 4].map((minute) => `2026-03-01T00:0${minute}:00.000Z`),
  );
  assert.deepEqual(await read('from=2026-03-01T00:00:00Z&to=2026-03-01T00:00:00Z'), []);
});

test('pages far away are refused with what to do instead; cursors and pages are not mixed', async () => {
  assert.equal((await read('page=2&page_size=3')).length, 3);
  const far = await service.operator('GET', '/audit?page=60000');
  assert.deepEqual(
    [far.status, far.body.code, far.body.details],
    [
      400,
      'invalid_parameter',
      'query.page: must not begin after row 10000: read on with after=<position of the last row>',
    ],
  );
  assert.equal(
    (await service.operator('GET', '/audit?after=5&page=2')).body.details,
    'query.page: must be left out where after or limit is given',
  );
  for (const wrong of ['after=-1', 'after=x', 'limit=0', 'limit=1001', 'from=yesterday'])
    assert.equal((await service.operator('GET', `/audit?${wrong}`)).status, 400, wrong);
});

describe('the cost does not depend on the place', () => {
  const shapes: [string, Parameters<typeof listAuditAfter>[1]][] = [
    ['all', {}],
    ['a rare entity', { entity: 'clock' }],
    ['a record', { entity: 'payment', entityId: `PAY${ROWS / 8}` }],
    ['a client', { clientId: 'CLI7' }],
    ['an actor', { actor: 'operator:9' }],
    ['a day', { from: new Date(Date.UTC(2026, 7, 1)), to: new Date(Date.UTC(2026, 7, 1) + DAY_MS) }],
    ['from a moment on', { from: new Date(Date.UTC(2026, 8, 1)) }],
    [
      'an entity of a day',
      { entity: 'payment', from: new Date(Date.UTC(2026, 7, 1)), to: new Date(Date.UTC(2026, 7, 1) + DAY_MS) },
    ],
  ];
  for (const [name, filter] of shapes)
    for (const after of [0, ROWS / 2, ROWS - 200])
      test(`${name}, behind ${after}`, async () => {
        assert.ok((await readRows(filter, after)) <= 2_000);
      });
});

/** How many rows and index entries of the chain a page of 100 looks at in the cell that has them, under the plan that any value gets. */
async function readRows(filter: Parameters<typeof listAuditAfter>[1], after: number): Promise<number> {
  let looked = 0;
  const explaining = {
    query: async (text: string, values: unknown[] = []) => {
      if (!/from audit_chain/.test(text)) return { rows: [] };
      const pool = poolOf(service.service.context.pool, cell);
      const { rows } = await pool.query(`explain (analyze, costs off, timing off, format json) ${text}`, values);
      looked += rowsRead(nodesOf(rows).filter((node) => node['Relation Name'] === 'audit_chain'));
      return { rows: [] };
    },
  };
  await listAuditAfter(explaining as never, filter, { after, limit: 100 });
  return looked;
}

test('lombard audit export writes NDJSON of a range', async () => {
  const range = ['--from', '2026-03-01', '--to', '2026-03-02'];
  const { code, stdout, stderr } = await lombard(
    ['audit', 'export', ...range, '--url', service.operatorUrl, '--token', service.operatorToken],
    {},
  ).ended;
  assert.equal(code, 0, stderr);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(lines.length, (2 * DAY_MS) / 60_000);
  assert.equal(lines[0].at, '2026-03-01T00:00:00.000Z');
  assert.match(lines[0].hash, /^[0-9a-f]+$/);
  const wrong = await lombard(['audit', 'export', '--from', 'yesterday'], {}).ended;
  assert.deepEqual(
    [wrong.code, wrong.stderr],
    [2, 'lombard: --from: "yesterday" must be an instant or a day, as 2026-11-01T00:00:00Z or 2026-11-01\n'],
  );
});
