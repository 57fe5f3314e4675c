/**
 * What approvals cost where very many payments are pending. `npm run bench -- pending-approvals`:
 * - `pending_your_approval` for a contact with 200 among 200,000 pending payments against one with 200 among 2,000 (at most 1.5);
 * - a contact loses the permission to authorise, and gets it back: every pending payment's approvers change;
 * - the longest that a search or an approval waits meanwhile (at most 200 ms), whoever asks.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { refreshApprovers } from '../src/approvals/refresh.ts';
import { ApproverRefresher } from '../src/approvals/refresher.ts';
import { type Pool, transaction } from '../src/database/database.ts';
import { migrate } from '../src/database/migrate.ts';
import { createPool } from '../src/database/pools.ts';
import { startEmbedded } from '../src/embedded/postgres.ts';
import { decidePayment } from '../src/payments/contact-actions.ts';
import { searchPayments } from '../src/payments/search/search.ts';
import { readSearch, type SearchQuery } from '../src/payments/search/search-parameters.ts';
import { createLog } from '../src/process/log.ts';
import { sha256 } from '../src/values/crypto.ts';
import type { PaymentId } from '../src/values/identifiers.ts';

/** LOMBARD_BENCH_PENDING reduces it for a quicker run; a multiple of 200. */
const MANY = Number(process.env.LOMBARD_BENCH_PENDING ?? 200_000);
const FEW = 2_000;
/** Payments of each client that the asking contact may authorise. */
const OWN = 200;
const ROUNDS = 5;
const CALLS = 200;
const POLL_MS = 20;
const NOW = new Date('2026-07-01T10:00:00Z');
const act = { now: NOW, actor: 'service:bench', requestId: 'bench' };
const log = createLog('warn', false);
const print = (line: string) => process.stdout.write(`${line}\n`);

const view = { viewer: 'VIEWER', now: NOW, apiUrl: 'https://api.example.com', trackingCutoff: '2020-01-01' };

export async function run(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'lombard-bench-approvals-'));
  const database = await startEmbedded({ dataDir: folder, log });
  const pool = createPool(database.url, log, { max: 2 });
  const meanwhile = createPool(database.url, log, { max: 1 });
  try {
    await migrate(database.url, log);
    await fill(database.url);
    await measureSearch(pool);
    await measurePermissions(pool, meanwhile);
  } finally {
    await meanwhile.end();
    await pool.end();
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Four eyes: every contact with the permission may approve. VIEWER created all but 200 of the payments, and so may not approve those. */
async function fill(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  // If a statement fails, the server is stopped while this connection is open. Only the original failure must be reported.
  client.on('error', () => {});
  await client.connect();
  await client.query('set synchronous_commit = off');
  const contacts = ['VIEWER', 'CREATOR', 'ANN', 'BOB', 'CAT'];
  for (const contact of contacts) {
    await client.query(
      `insert into contacts (contact_id, name, email, second_factor, trusted_access, created_at) values ($1, $1, $1 || '@example.com', 'none', false, now())`,
      [contact],
    );
  }
  for (const [name, count] of [
    ['MANY', MANY],
    ['FEW', FEW],
  ] as const) {
    await client.query(
      `insert into clients (client_id, client_name, status, fx_enabled, mass_payments_customer, authorisation_workflow, payment_approvals_enabled,
         payment_creator_approval_enabled, created_at) values ($1, $1, 'enabled', true, false, '6-eyes', true, false, now())`,
      [name],
    );
    await client.query(
      'insert into contact_clients select $1, u, true, true, true, true, true from unnest($2::text[]) u',
      [name, contacts],
    );
    await client.query(
      `insert into beneficiaries (beneficiary_id, client_id, beneficiary_name, active, authorised, blocked, completed, verified, created_at)
       values ('BEN-' || $1, $1, 'Beneficiary', true, true, false, true, true, now())`,
      [name],
    );
    await client.query(
      `insert into trades (trade_id, client_id, contact_id, status, trade_type, rate_symbol, rate,
         buy_currency, sell_currency, buy_amount, sell_amount, order_date, synthetic, created_at)
       values ('TRD-' || $1, $1, 'CREATOR', 'Created', 'spot', 'GBPEUR', 1.17,
         'EUR', 'GBP', 117, 100, '2026-07-01', false, now())`,
      [name],
    );
    const every = count / OWN;
    const { rows } = await client.query<{ first: number; last: number }>(
      `with made as (insert into payments (client_id, payment_id, contact_id, trade_id, beneficiary_id, uuid, scheme, amount, payment_currency, status,
         invoice_required, ordered_by_name, beneficiary_name, created, payment_date, authorisation_workflow)
       select $1, 'PAY-' || $1 || i, case when i % $3 = 0 then 'CREATOR' else 'VIEWER' end, 'TRD-' || $1, 'BEN-' || $1, gen_random_uuid(), 'SWIFT', i, 'EUR',
         'Payment pending of authorization', false, 'Bench', 'Payee', $4::timestamptz - i * interval '3 minutes', '2026-07-01'::date + i % 60, '6-eyes'
       from generate_series(1, $2::int) i returning id) select min(id) as first, max(id) as last from made`,
      [name, count, every, NOW],
    );
    const state = (creator: string) => sha256(JSON.stringify([[2], [creator, false], []])).subarray(0, 16);
    await client.query(
      `insert into payment_approvals (payment_id, client_id, requirement, authorisations, remaining, status, state)
       select id, $1, json_build_object('creator', contact_id, 'creation_counts', false, 'eyes', 2), '[]', 2, 'Pending approval',
         case when contact_id = 'VIEWER' then $4::bytea else $5::bytea end from payments where id between $2 and $3`,
      [name, rows[0]?.first, rows[0]?.last, state('VIEWER'), state('CREATOR')],
    );
    await client.query(
      `insert into payment_approvers select $1, c, p.id, p.created, p.payment_date, true, true from payments p cross join unnest($4::text[]) c
       where p.id between $2 and $3 and c <> p.contact_id`,
      [name, rows[0]?.first, rows[0]?.last, contacts],
    );
  }
  for (const rollUp of ['roll_up_payment_totals', 'roll_up_payment_approver_totals'])
    await client.query(`select ${rollUp}(2000000000)`);
  await client.query('vacuum (analyze)');
  await client.end();
}

async function measureSearch(pool: Pool): Promise<void> {
  const shapes: [string, SearchQuery][] = [
    ['first page', {}],
    ['first page, descending', { order: 'desc' }],
    ['by payment date', { order_by: 'value_date' }],
    ['page 4 of 50', { page: 4 }],
    ['all 200', { page_size: 200 }],
  ];
  print(
    `pending_your_approval: ${OWN} among ${MANY} and ${OWN} among ${FEW} pending payments; ${ROUNDS} rounds of ${CALLS} calls, ms`,
  );
  for (const [name, query] of shapes) {
    const search = readSearch({ page: 1, page_size: 50, ...query, status: 'pending_your_approval' } as SearchQuery);
    const medians: Record<string, number[]> = { MANY: [], FEW: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const clientId of ['MANY', 'FEW']) {
        const times: number[] = [];
        for (let call = 0; call < CALLS; call += 1) {
          const began = performance.now();
          const page = await searchPayments(pool, { ...view, clientId }, search);
          times.push(performance.now() - began);
          if (page.total !== OWN) throw new Error(`${page.total} payments were found`);
        }
        medians[clientId]?.push(median(times));
      }
    }
    const [many, few] = [median(medians.MANY as number[]), median(medians.FEW as number[])];
    print(`  ${name.padEnd(24)} ${many.toFixed(3)}  ${few.toFixed(3)}  ratio ${(many / few).toFixed(2)}`);
  }
}

/** Changes the permissions of a contact who may act on all pending payments of the client. */
async function measurePermissions(pool: Pool, meanwhile: Pool): Promise<void> {
  for (const clientId of ['FEW', 'MANY']) {
    for (const may of [false, true]) {
      const began = performance.now();
      await transaction(pool, async (tx) => {
        await tx.query(
          'update contact_clients set can_authorise_payments = $2 where client_id = $1 and contact_id = $3',
          [clientId, may, 'ANN'],
        );
        await refreshApprovers(tx, act, clientId);
      });
      const took = performance.now() - began;
      const refresher = new ApproverRefresher({ backgroundPool: pool, clock: { now: () => NOW }, log });
      refresher.start();
      const others = measureOthers(meanwhile, clientId);
      while ((await pool.query('select from approver_refreshes')).rows.length > 0) await pause(POLL_MS);
      const whole = performance.now() - began;
      await refresher.stop();
      const waits = await others.end();
      const { rows } = await pool.query(
        'select count(*) as n from payment_approvers where client_id = $1 and contact_id = $2',
        [clientId, 'ANN'],
      );
      const pending = clientId === 'MANY' ? MANY : FEW;
      if (rows[0].n !== (may ? pending : 0)) throw new Error(`${rows[0].n} payments are listed`);
      print(
        `${may ? 'gets' : 'loses'} the permission, ${pending} pending: committed after ${took.toFixed(0)} ms, all of it after ${whole.toFixed(0)} ms`,
      );
      for (const [name, times] of waits)
        print(
          `  ${name.padEnd(40)} ${String(times.length).padStart(5)} calls, p50 ${median(times).toFixed(1)} ms, longest ${Math.max(...times).toFixed(0)} ms`,
        );
    }
  }
}

/** How many payments have been approved, counted from the first one. */
let approved = 0;

/** Searches by contacts that the change concerns and by others, and approvals by others, one after another until `end`. */
function measureOthers(pool: Pool, clientId: string): { end(): Promise<Map<string, number[]>> } {
  const waits = new Map<string, number[]>();
  let over = false;
  const timed = async (name: string, work: () => Promise<unknown>) => {
    const began = performance.now();
    await work();
    const times = waits.get(name) ?? [];
    waits.set(name, [...times, performance.now() - began]);
  };
  const search = (viewer: string, status: string) =>
    timed(`${viewer} searches ${status}`, () =>
      searchPayments(
        pool,
        { ...view, clientId, viewer },
        readSearch({ page: 1, page_size: 50, status } as SearchQuery),
      ),
    );
  const approve = () =>
    timed('BOB approves', () =>
      transaction(pool, (tx) => {
        const paymentId = `PAY-${clientId}${++approved}` as PaymentId;
        return decidePayment(tx, act, view, { clientId, contactId: 'BOB', paymentId, action: 'authorise' });
      }),
    );
  const work = (async () => {
    while (!over) {
      for (const viewer of ['ANN', 'BOB'])
        for (const status of ['pending_your_approval', 'pending_others_approval']) await search(viewer, status);
      await approve();
    }
  })();
  return {
    end: async () => {
      over = true;
      await work;
      return waits;
    },
  };
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}
