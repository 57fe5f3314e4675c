import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type Pool, transaction } from '../../src/database/database.ts';
import { createPool } from '../../src/database/pools.ts';
import type { PaymentView } from '../../src/payments/presentation.ts';
import { searchPayments } from '../../src/payments/search/search.ts';
import { readSearch, type SearchQuery } from '../../src/payments/search/search-parameters.ts';
import { rollUpTotals, wholeMonths } from '../../src/payments/search/totals.ts';
import { type Figures, readFigures } from '../../src/payments/views/figures.ts';
import { addDays } from '../../src/values/calendar.ts';
import { log } from '../world/database.ts';
import { client, pay } from '../world/payments.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** Totals are exact at every moment: whatever writes, however it writes, and however far the roll-up has come. */

let service: TestService;
let pool: Pool;

before(async () => {
  // Without the worker role: these tests roll up when they want to.
  service = await startTestService({ LOMBARD_ROLES: 'api,operator' });
  pool = createPool(service.databaseUrl, log, { max: 8, background: true });
});
after(async () => {
  await pool.end();
  await service.stop();
});

const view = (clientId: string): PaymentView => ({
  clientId,
  viewer: null,
  now: new Date('2026-07-01T00:00:00Z'),
  apiUrl: 'http://api',
  trackingCutoff: '2020-01-01',
});
const total = async (clientId: string, query: SearchQuery) =>
  (await searchPayments(pool, view(clientId), readSearch({ page_size: 1, ...query }))).total;

/** A search whose total is kept, and the same as a condition for count(*). */
const KEPT: [SearchQuery, string][] = [
  [{}, 'true'],
  [{ status: 'pending' }, 'phase in (1, 2)'],
  [{ status: 'complete' }, 'phase = 3'],
  [{ payment_currency: 'EUR' }, "payment_currency = 'EUR'"],
  [{ status: 'authorised', payment_currency: 'EUR,USD' }, "phase = 2 and payment_currency in ('EUR', 'USD')"],
  [{ amount: 150, amount_range: 'over' }, 'amount > 150'],
  [{ amount: 150, amount_range: 'below' }, 'amount < 150'],
  [{ from_created_date: '2026-02-10', to_created_date: '2026-05-03' }, LONDON('2026-02-10', '2026-05-03')],
  [
    { status: 'pending', from_created_date: '2026-02-10', to_created_date: '2026-05-03' },
    `phase in (1, 2) and ${LONDON('2026-02-10', '2026-05-03')}`,
  ],
  [
    { payment_currency: 'USD', to_payment_date: '2026-04-17' },
    "payment_currency = 'USD' and payment_date <= '2026-04-17'",
  ],
  [{ beneficiary_id: 'BEN-WAYS-2' }, "beneficiary_id = 'BEN-WAYS-2'"],
  [{ beneficiary_id: 'BEN-BUSY-1' }, "beneficiary_id = 'BEN-BUSY-1'"],
  [{ from_payment_date: '2026-03-01', order_by: 'value_date' }, "payment_date >= '2026-03-01'"],
];
function LONDON(from: string, to: string): string {
  return `(created at time zone 'Europe/London')::date between '${from}' and '${to}'`;
}

async function allExact(clientId: string, moment: string): Promise<void> {
  for (const [query, condition] of KEPT) {
    const { rows } = await pool.query(`select count(*) as n from payments where client_id = $1 and ${condition}`, [
      clientId,
    ]);
    assert.equal(await total(clientId, query), rows[0].n, `${moment}: ${JSON.stringify(query)}`);
  }
}

/** The conditions of each figure of the first page, for `payments p left join payment_approvers a` of the contact. */
const TODAY = '2026-03-14';
const FIGURES: Record<keyof Figures, string> = {
  waiting_for_me: 'a.may_authorise',
  due_for_me: `a.may_authorise and p.payment_date <= '${TODAY}'`,
  made_by_me: 'p.phase = 1 and p.contact_id = $2',
  due_today: `p.phase = 1 and p.payment_date = '${TODAY}'`,
};

async function figuresExact(clientId: string, contactId: string, moment: string): Promise<void> {
  const figures = await readFigures(pool, { clientId, contactId, today: TODAY });
  for (const [name, condition] of Object.entries(FIGURES) as [keyof Figures, string][]) {
    const { rows } = await pool.query(
      `select p.payment_currency as currency, count(*) as count, trim_scale(sum(p.amount))::text as amount
       from payments p left join payment_approvers a on a.payment_id = p.id and a.contact_id = $2
       where p.client_id = $1 and $2::text is not null and ${condition} group by 1 order by 1`,
      [clientId, contactId],
    );
    const count = rows.reduce((sum, row) => sum + row.count, 0);
    assert.deepEqual(figures[name], { count, sums: rows }, `${moment}: ${name}`);
  }
}

const CURRENCIES = ['EUR', 'USD', 'GBP'];
const STATUSES = [
  'Payment pending of authorization',
  'Waiting for payment date',
  'Payment complete',
  'Payment cancelled',
];
const some = (n: number, from = 0) =>
  Array.from({ length: n }, (_, i) => ({
    amount: String(50 + ((i * 37) % 300)),
    payment_currency: CURRENCIES[i % 3] as string,
    status: STATUSES[i % 4] as string,
    created: new Date(Date.UTC(2026, 0, 1) + ((i * 7_919 + from) % 4_000) * 3_600_000).toISOString(),
    payment_date: addDays('2026-01-01', (i * 31) % 170),
    beneficiary: 1 + (i % 3),
  }));

test('after every way of writing, before and after the roll-up', async () => {
  const { clientId, contactId } = await client(service, 'WAYS');
  const exact = async (moment: string) => {
    await allExact(clientId, moment);
    await figuresExact(clientId, contactId, moment);
  };
  const step = async (what: string, work: () => Promise<unknown>) => {
    await work();
    await exact(what);
    await rollUpTotals(pool);
    await exact(`${what}, rolled up`);
  };
  await step('inserted', () => pay(service, 'WAYS', some(800)));
  await step('status changed', () =>
    pool.query("update payments set status = 'Payment complete' where client_id = $1 and id % 3 = 0", [clientId]),
  );
  await step('everything that counts changed', () =>
    pool.query(
      `update payments set payment_currency = 'USD', created = created + interval '40 days', payment_date = payment_date - 33, amount = amount * 3, beneficiary_id = 'BEN-WAYS-3'
       where client_id = $1 and id % 5 = 0`,
      [clientId],
    ),
  );
  await step('what does not count changed', () =>
    pool.query("update payments set reference = 'x' where client_id = $1", [clientId]),
  );
  const { rows } = await pool.query('select count(*) as n from payment_total_deltas');
  assert.equal(rows[0].n, 0);
  await step('deleted', () => pool.query('delete from payments where client_id = $1 and id % 7 = 0', [clientId]));
  await step('moved back to waiting', () =>
    pool.query("update payments set status = 'Payment pending of authorization' where client_id = $1 and id % 3 = 0", [
      clientId,
    ]),
  );
  await step('nothing waits', () =>
    pool.query("update payments set status = 'Payment complete' where client_id = $1", [clientId]),
  );
  const left = await pool.query('select count(*) as n from payment_waiting_totals where client_id = $1', [clientId]);
  assert.equal(left.rows[0].n, 0, 'what came to nothing is deleted');
  await step('rolled back', async () => {
    await assert.rejects(
      transaction(pool, async (tx) => {
        await tx.query('delete from payments where client_id = $1', [clientId]);
        throw new Error('undone');
      }),
      /undone/,
    );
  });
});

/** Rows are locked in one order, so that these writers never deadlock. */
function LOCKED(condition: string): string {
  return `with chosen as (select id from payments where client_id = $1 and ${condition} order by id for update)`;
}

/** Milliseconds for which there are writers, and answers that are compared meanwhile. */
const WRITING_MS = 5_000;
const MIN_ANSWERS = 30;

test('totals and pages of one answer are of one moment while writers and roll-ups run', async () => {
  const { clientId } = await client(service, 'BUSY');
  await pay(service, 'BUSY', some(300));
  let running = true;
  const failures: unknown[] = [];
  const loop = (work: (round: number) => Promise<unknown>) =>
    (async () => {
      for (let round = 0; running; round += 1) await work(round);
    })().catch((error) => failures.push(error));
  const loops = [
    ...[1, 2, 3].map((n) => loop((round) => pay(service, 'BUSY', some(1 + (round % 9), n * 1_000 + round)))),
    loop((round) =>
      pool.query(
        `${LOCKED('id % 11 = $2')} update payments set status = 'Payment complete' where id in (select id from chosen)`,
        [clientId, round % 11],
      ),
    ),
    loop((round) =>
      pool.query(`${LOCKED('id % 97 = $2')} delete from payments where id in (select id from chosen)`, [
        clientId,
        round % 97,
      ]),
    ),
    ...[1, 2, 3].map(() => loop(() => rollUpTotals(pool))),
  ];
  const deadline = performance.now() + WRITING_MS;
  let answers = 0;
  while (performance.now() < deadline || answers < MIN_ANSWERS) {
    // A page of everything: its length is the number of payments of the moment that the total must be of.
    for (const query of [
      { page_size: 1_000 },
      { page_size: 1_000, payment_currency: 'EUR' },
      { page_size: 1_000, status: 'complete' as const },
    ]) {
      const answer = await searchPayments(pool, view(clientId), readSearch(query));
      const shown = JSON.parse(answer.body).length;
      if (answer.total <= 1_000) {
        assert.equal(answer.total, shown, JSON.stringify(query));
        answers += 1;
      }
    }
    await pool.query(
      `${LOCKED('id <= (select id from payments where client_id = $1 order by id desc offset 700 limit 1)')} delete from payments where id in (select id from chosen)`,
      [clientId],
    );
  }
  running = false;
  await Promise.all(loops);
  assert.deepEqual(failures, []);
  await allExact(clientId, 'at rest');
  while ((await rollUpTotals(pool)) > 0);
  await allExact(clientId, 'at rest, rolled up');
});

test('whole months and edges of a range are the range, each day once', () => {
  const day = fc.integer({ min: 0, max: 1_500 }).map((n) => addDays('2023-06-01', n));
  const open = fc.option(day, { nil: undefined });
  fc.assert(
    fc.property(open, open, (from, to) => {
      const { months, edges } = wholeMonths({ from, to });
      const [first, last] = ['2022-01-01', '2029-12-31'];
      const wanted = new Set<string>();
      for (let each = first; each <= last; each = addDays(each, 1))
        if (each >= (from ?? first) && each <= (to ?? last)) wanted.add(each);
      const found: string[] = [];
      for (const piece of [...edges, ...(months ? [months] : [])]) {
        for (let each = piece.from ?? first; each <= (piece.to ?? last); each = addDays(each, 1)) found.push(each);
      }
      assert.equal(found.length, new Set(found).size);
      assert.deepEqual(found.sort(), [...wanted]);
      if (months?.from) assert.ok(months.from.endsWith('-01'));
      if (months?.to) assert.ok(addDays(months.to, 1).endsWith('-01'));
    }),
    { numRuns: 60 },
  );
});

test('what waits for a contact: by every way of writing its approvers, before and after the roll-up', async () => {
  const { clientId, contactId } = await client(service, 'WAIT');
  await pay(
    service,
    'WAIT',
    some(400).map((payment) => ({ ...payment, status: STATUSES[0] as string })),
  );
  const exact = async (moment: string) => {
    const { rows } = await pool.query(
      'select count(*) filter (where may_authorise) as n, count(distinct p.id) as all from payments p left join payment_approvers a on a.payment_id = p.id where p.client_id = $1',
      [clientId],
    );
    for (const [status, wanted] of [
      ['pending_your_approval', rows[0].n],
      ['pending_others_approval', rows[0].all - rows[0].n],
    ] as const) {
      const query = readSearch({ status, page_size: 1_000 });
      const answer = await searchPayments(pool, { ...view(clientId), viewer: contactId }, query);
      assert.deepEqual([answer.total, JSON.parse(answer.body).length], [wanted, wanted], `${moment}: ${status}`);
    }
    await figuresExact(clientId, contactId, moment);
  };
  for (const [what, text] of [
    [
      'inserted',
      `insert into payment_approvers (client_id, contact_id, payment_id, created, payment_date, may_authorise, may_reject)
       select client_id, $2, id, created, payment_date, id % 3 <> 0, true from payments where client_id = $1`,
    ],
    [
      'updated',
      'update payment_approvers set may_authorise = not may_authorise where client_id = $1 and contact_id = $2 and payment_id % 5 < 2',
    ],
    ['deleted', 'delete from payment_approvers where client_id = $1 and contact_id = $2 and payment_id % 7 = 0'],
    ['all deleted', 'delete from payment_approvers where client_id = $1 and contact_id = $2'],
  ] as const) {
    await pool.query(text, [clientId, contactId]);
    await exact(what);
    await rollUpTotals(pool);
    await exact(`${what}, rolled up`);
  }
});

test('truncated: nothing is counted', async () => {
  await client(service, 'GONE');
  await pay(service, 'GONE', some(20));
  await rollUpTotals(pool);
  await pay(service, 'GONE', some(20));
  await pool.query('truncate payments cascade');
  await allExact('CLI-GONE', 'truncated');
});
