import assert from 'node:assert/strict';
import { MOVES, type PaymentAction } from '../../src/payments/moves.ts';
import { until } from '../world/command.ts';
import { compareCopy, copyOf } from '../world/feed-copy.ts';
import { call } from '../world/service.ts';
import type { FeedReader } from './feed-reader.ts';
import type { Entry } from './ledger.ts';
import { OPERATOR_TOKEN, type System } from './system.ts';
import type { Party, Workload } from './workload.ts';

const SETTLED_SECONDS = 120;
const PAGE_ROWS = 1_000;
/** Approvals besides the creator's own order. */
const NEEDED: Record<string, number> = { '4-eyes': 1, '6-eyes': 2 };

export interface Round {
  system: System;
  workload: Workload;
  reader: FeedReader;
}

type Check = (round: Round) => Promise<void>;

/** What must hold whatever has happened, once the callers are silent and everything has recovered. */
const CHECKS: Record<string, Check> = {
  'every answered change is there once, no other one twice': changesOnce,
  'the feed is complete and equals the tables': feedComplete,
  'every notification of every change has arrived': notificationsComplete,
  'balances add up': balancesAddUp,
  'the audit trail verifies': auditVerifies,
  'approvals keep to their rule': approvalsKeepRule,
  'tenants are apart, and totals are exact': tenantsApart,
};

export const CHECK_NAMES = Object.keys(CHECKS);

/** @returns what does not hold: the name of the check, a colon, and what it found */
export async function check(round: Round): Promise<string[]> {
  await settled(round.system);
  const findings: string[] = [];
  for (const [name, holds] of Object.entries(CHECKS))
    await holds(round).catch((error: Error) => findings.push(`${name}: ${error.message.slice(0, 2_000)}`));
  return findings;
}

/** Waits until nothing is left to be done. @throws Error which work stays */
async function settled(system: System): Promise<void> {
  let left: Record<string, number> = {};
  await until(async () => {
    const { rows } = await system
      .query(
        `select (select count(*)::int from delivery.outbox) as outbox, (select count(*)::int from delivery.queue) as queue,
         (select count(*)::int from changes_unpublished) as unpublished, (select count(*)::int from audit_unsealed) as unsealed,
         (select count(*)::int from approver_refreshes) as refreshes`,
      )
      .catch(() => ({ rows: [{ database: 1 }] }));
    left = rows[0];
    return Object.values(left).every((count) => count === 0);
  }, SETTLED_SECONDS).catch(() => {
    throw new Error(`work is left after ${SETTLED_SECONDS} s: ${JSON.stringify(left)}`);
  });
}

async function changesOnce({ system, workload }: Round): Promise<void> {
  const { rows } = await system.query(
    `select request_id, count(*)::int as n from audit where request_id like 'F%' group by 1`,
  );
  const audited = new Map<string, number>(rows.map(({ request_id, n }) => [request_id, n]));
  const faults: string[] = [];
  const say = ({ what, requestIds, status }: Entry, times: number) =>
    faults.push(`${what} ${requestIds.join()} was answered ${status} and done ${times} times`);
  for (const entry of workload.ledger.entries) {
    const times = entry.requestIds.filter((id) => audited.has(id)).length;
    const done = entry.status !== undefined && entry.status < 300;
    if (times > 1 && entry.marks.length < 2) say(entry, times);
    else if (entry.status === undefined) continue;
    else if (!done && times > 0) say(entry, times);
    else if (done && times === 0 && !entry.silent) say(entry, times);
  }
  for (const table of ['payments', 'transactions', 'trades', 'beneficiaries', 'contacts'] as const) {
    const column = {
      payments: 'reference',
      transactions: 'transaction_reference',
      trades: 'reference',
      beneficiaries: 'beneficiary_name',
      contacts: 'name',
    };
    const found = await system.query(
      `select ${column[table]} as mark, count(*)::int as n from ${table} where ${column[table]} like 'F%' group by 1`,
    );
    const counts = new Map<string, number>(found.rows.map(({ mark, n }) => [mark, n]));
    for (const entry of workload.ledger.entries.filter((each) => each.table === table)) {
      for (const mark of entry.marks) {
        const times = counts.get(mark) ?? 0;
        const done = entry.status !== undefined && entry.status < 300;
        if (times > 1 || (done && times !== 1) || (entry.status !== undefined && !done && times > 0)) say(entry, times);
      }
    }
  }
  assert.deepEqual(faults, []);
}

async function feedComplete({ system, reader }: Round): Promise<void> {
  const copy = copyOf(await reader.caughtUp());
  const operator = (method: string, path: string) =>
    call(`${system.fronts[0]?.operator}${path}`, method, { token: OPERATOR_TOKEN });
  await compareCopy({ operator, query: (text, values) => system.query(text, values) }, copy);
}

async function notificationsComplete({ system, workload }: Round): Promise<void> {
  const { rows: events } = await system.query(
    "select id::text, client_id, body from delivery.events where type = 'PAYMENT_STATUS_CHANGE'",
  );
  const arrived = new Set<string>();
  const ids = new Map<string, string>();
  for (const { path, body, headers } of workload.receiver.received) {
    const text = `${path.slice(1)} ${body.toString()}`;
    arrived.add(text);
    const id = headers['x-service-notification-id'] ?? '';
    assert.equal(ids.get(id) ?? text, text, 'a notification has one body');
    ids.set(id, text);
  }
  const missing = events.filter(({ client_id, body }) => !arrived.has(`${client_id} ${body}`));
  assert.deepEqual(
    missing.map(({ id }) => id),
    [],
    'every event arrived',
  );
  const written = new Set(events.map(({ client_id, body }) => `${client_id} ${body}`));
  assert.deepEqual(
    [...arrived].filter((text) => !written.has(text)),
    [],
    'nothing arrived that was not committed',
  );

  const told = events
    .map(({ body }) => JSON.parse(body))
    .map(({ data, payment_webhook_status }) => `${data[0].payment_id} ${payment_webhook_status[0]}`);
  const created = told.filter((each) => each.endsWith(' CREATED'));
  const payments = await system.query(
    `select payment_id || ' CREATED' as text from payments where reference like 'F%'`,
  );
  assert.deepEqual(
    created.toSorted(),
    payments.rows.map(({ text }) => text).toSorted(),
    'each payment was announced once',
  );
  const moves = await system.query(
    `select entity_id as id, after->>'action' as action from audit
     where entity = 'payment' and action = 'action'`,
  );
  const expected = moves.rows
    .filter(({ action }) => action !== 'authorise')
    .map(({ id, action }) => `${id} ${MOVES[action as PaymentAction].webhook}`)
    .filter((each) => !each.endsWith(' null'));
  const moved = told.filter((each) => !/ (CREATED|PENDING_OF_AUTHORIZATION|AUTHORIZED)$/.test(each));
  assert.deepEqual(moved.toSorted(), expected.toSorted(), 'each move was told once');
  // By the last approval, or at once where none is needed.
  const complete = await system.query(
    `select p.payment_id || ' AUTHORIZED' as text from payments p left join payment_approvals pa on pa.payment_id = p.id
     where reference like 'F%' and (pa.payment_id is null or exists (select from audit a where a.entity = 'payment' and a.entity_id = p.payment_id
       and a.after->>'action' = 'authorise' and a.after->>'status' <> a.before->>'status'))`,
  );
  const authorised = told.filter((each) => each.endsWith(' AUTHORIZED'));
  assert.deepEqual(
    authorised.toSorted(),
    complete.rows.map(({ text }) => text).toSorted(),
    'each approved payment was told once',
  );
}

async function balancesAddUp({ system }: Round): Promise<void> {
  const { rows } = await system.query(
    `select a.account_id from currency_accounts a where a.balance <> (select coalesce(sum(amount), 0) from transactions t where t.currency_account_id = a.account_id)
     union all
     select currency_account_id from (select currency_account_id, balance_after,
       sum(amount) over (partition by currency_account_id order by id) as sum from transactions) t where balance_after <> sum`,
  );
  assert.deepEqual(rows, []);
}

async function auditVerifies({ system }: Round): Promise<void> {
  const { body, text } = await call(`${system.fronts[0]?.operator}/audit/verify`, 'GET', { token: OPERATOR_TOKEN });
  assert.equal(body?.valid, true, text);
}

async function approvalsKeepRule({ system, workload }: Round): Promise<void> {
  for (const { clientId, contactId, workflow } of workload.parties.filter(
    (party) => NEEDED[party.workflow] !== undefined,
  )) {
    const { rows } = await system.query(
      `select p.payment_id, p.status as payment, pa.status, pa.authorisations, pa.remaining from payments p
       left join payment_approvals pa on pa.payment_id = p.id where p.client_id = $1`,
      [clientId],
    );
    const needed = NEEDED[workflow] as number;
    for (const row of rows) {
      const given = (row.authorisations ?? []).filter((each: { status: number }) => each.status === 1);
      const people = new Set(given.map((each: { contact_id: string }) => each.contact_id));
      const what = `${row.payment_id} of ${workflow}: ${JSON.stringify(row)}`;
      assert.equal(people.size, given.length, `one person counts once: ${what}`);
      assert.ok(!people.has(contactId), `its creator approved ${what}`);
      assert.ok(row.status, `an approval is there: ${what}`);
      if (row.status === 'Approved') assert.equal(given.length, needed, what);
      if (row.status === 'Pending approval') assert.ok(given.length < needed, what);
      assert.ok(given.length <= needed, what);
      assert.equal(row.payment === 'Payment pending of authorization', row.status === 'Pending approval', what);
    }
    const apart = await system.query(
      `with may as (
         select p.id as payment_id, c.contact_id from payments p join payment_approvals pa on pa.payment_id = p.id
         join contact_clients c on c.client_id = p.client_id and c.can_authorise_payments and c.contact_id <> p.contact_id
         where p.client_id = $1 and pa.status = 'Pending approval'
           and not exists (select from json_array_elements(pa.authorisations) a where a->>'contact_id' = c.contact_id)),
       kept as (select payment_id, contact_id from payment_approvers where client_id = $1 and may_authorise)
       (select 'missing', * from (table may except table kept) m) union all (select 'too many', * from (table kept except table may) k)`,
      [clientId],
    );
    assert.deepEqual(apart.rows, [], 'who may approve is kept as it follows from permissions and approvals');
  }
}

async function tenantsApart({ system, workload }: Round): Promise<void> {
  for (const party of workload.parties) {
    const { rows } = await system.query(
      'select payment_id as id, status from payments where client_id = $1 order by 1',
      [party.clientId],
    );
    const shown = await paymentsOf(system, party);
    assert.deepEqual(shown.ids.toSorted(), rows.map(({ id }) => id).toSorted());
    assert.equal(shown.total, rows.length, 'the total is exact');
    for (const other of workload.parties.filter((each) => each !== party)) {
      const refused = await call(`${system.fronts[0]?.api}/payments?client_id=${other.clientId}`, 'GET', {
        token: party.token,
      });
      assert.equal(refused.status, 404, refused.text);
    }
  }
  const { rows } = await system.query('select payment_id, client_id from payments');
  const owners = new Map(rows.map(({ payment_id, client_id }) => [payment_id, client_id]));
  for (const { path, body } of workload.receiver.received)
    for (const { payment_id } of JSON.parse(body.toString()).data) assert.equal(owners.get(payment_id), path.slice(1));
}

async function paymentsOf(system: System, { clientId, token }: Party): Promise<{ ids: string[]; total: number }> {
  const ids: string[] = [];
  for (let page = 1; ; page += 1) {
    const query = `client_id=${clientId}&page=${page}&page_size=${PAGE_ROWS}`;
    const { status, body, headers, text } = await call(`${system.fronts.at(-1)?.api}/payments?${query}`, 'GET', {
      token,
    });
    assert.equal(status, 200, text);
    ids.push(...body.map((payment: { payment_id: string }) => payment.payment_id));
    if (body.length < PAGE_ROWS) return { ids, total: Number(headers.get('x-total-count')) };
  }
}
