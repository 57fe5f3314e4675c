import assert from 'node:assert/strict';
import { compareCopy, copyOf } from '../world/feed-copy.ts';
import { call } from '../world/service.ts';
import { until } from '../world/until.ts';
import { clientsLiveInOneCell } from './checks/cells.ts';
import { consumersStand } from './checks/consumers.ts';
import { redelivered } from './checks/deliveries.ts';
import { personsErased } from './checks/erasures.ts';
import { filesDoneOnce } from './checks/files.ts';
import { notificationsComplete } from './checks/notifications.ts';
import { moneyIsHeld } from './checks/orders.ts';
import { nobodyDied } from './checks/processes.ts';
import type { Round } from './checks/round.ts';
import { rulesetsGovern } from './checks/rulesets.ts';
import { secondFactorsHold } from './checks/second-factors.ts';
import { staffIsNamed } from './checks/staff.ts';
import { statementsSent } from './checks/statements.ts';
import { tokensHold } from './checks/tokens.ts';
import { tradesGivenOnce } from './checks/trades.ts';
import { upgradesComplete } from './checks/upgrades.ts';
import { type Entry, MARKED, type MarkedTable } from './ledger.ts';
import { openMarkets, type Party } from './party.ts';
import { OPERATOR_TOKEN, type System } from './system.ts';

/** At least; a slower machine gets twice as long as for working again after a fault. */
const MIN_SETTLED_SECONDS = 120;
const PAGE_ROWS = 1_000;
/** Approvals besides the creator's own order. */
const NEEDED: Record<string, number> = { '4-eyes': 1, '6-eyes': 2 };

type Check = (round: Round) => Promise<void>;

/** What must hold whatever has happened, once the callers are silent and everything has recovered. */
const CHECKS: Record<string, Check> = {
  'every answered change is there once, no other one twice': changesOnce,
  'the feed is complete and equals the tables': feedComplete,
  'every notification of every change has arrived': notificationsComplete,
  'balances add up': balancesAddUp,
  'no money is spent twice, and none is held in vain': moneyIsHeld,
  'no trade is booked or given twice': tradesGivenOnce,
  'each row of a file is done once, and each step told': filesDoneOnce,
  'the audit trail verifies': auditVerifies,
  'approvals keep to their rule': approvalsKeepRule,
  'rulesets govern their payments': rulesetsGovern,
  'tenants are apart, and totals are exact': tenantsApart,
  'statements are sent': statementsSent,
  'what is to be sent again arrives again': redelivered,
  'tokens hold, and revoked ones do not': tokensHold,
  'second factors and new passwords hold': secondFactorsHold,
  'what the staff did is under its name, with the reason': staffIsNamed,
  'consumers stand where they acknowledged': consumersStand,
  'erased persons are gone': personsErased,
  'each client lives in one cell, where it was moved to': clientsLiveInOneCell,
  'upgrades are complete in every cell': upgradesComplete,
  'no process ends by itself': nobodyDied,
};

export const CHECK_NAMES = Object.keys(CHECKS);

/** @returns what does not hold: the name of the check, a colon, and what it found */
export async function check(round: Round): Promise<string[]> {
  // What waits for markets goes on.
  await openMarkets(round.system);
  await settled(round.system, Math.max(MIN_SETTLED_SECONDS, 2 * round.recoverySeconds));
  const findings: string[] = [];
  for (const [name, holds] of Object.entries(CHECKS))
    await holds(round).catch((error: Error) => findings.push(`${name}: ${error.message.slice(0, 2_000)}`));
  return findings;
}

/** Waits until nothing is left to be done. @throws Error which work stays */
async function settled(system: System, seconds: number): Promise<void> {
  let left: Record<string, number> = {};
  await until(
    async () => {
      const { rows } = await system
        .query(
          `select (select count(*)::int from webhook_outbox) as outbox, (select count(*)::int from webhook_queue) as queue,
         (select count(*)::int from changes_unpublished) as unpublished, (select count(*)::int from audit_unsealed) as unsealed,
         (select count(*)::int from approver_refreshes) as refreshes,
         (select count(*)::int from statement_deliveries where status in ('requested', 'making', 'retrying')) as statements,
         (select count(*)::int from erasures where state = 'running') as erasures,
         (select count(*)::int from mass_payments where proceeds or status like 'Queued%' or status in ('Processing', 'Creating')) as files,
         (select count(*)::int from mass_beneficiaries where created_by is not null and status in ('queued', 'processing')) as payees`,
        )
        .catch(() => ({ rows: [{ database: 1 }] }));
      left = rows[0];
      return Object.values(left).every((count) => count === 0);
    },
    { seconds },
  ).catch(() => {
    throw new Error(`work is left after ${seconds} s: ${JSON.stringify(left)}`);
  });
}

async function changesOnce({ system, known }: Round): Promise<void> {
  const { rows } = await system.query(
    `select request_id, count(*)::int as n from audit where request_id like 'F%' group by 1`,
  );
  const audited = new Map<string, number>(rows.map(({ request_id, n }) => [request_id, n]));
  const faults: string[] = [];
  const say = ({ what, requestIds, status }: Entry, times: number) =>
    faults.push(`${what} ${requestIds.join()} was answered ${status} and done ${times} times`);
  for (const entry of known.ledger.entries) {
    const times = entry.requestIds.filter((id) => audited.has(id)).length;
    const done = entry.status !== undefined && entry.status < 300;
    if (times > 1 && entry.marks.length < 2) say(entry, times);
    else if (entry.status === undefined) continue;
    else if (!done && times > 0) say(entry, times);
    else if (done && times === 0 && !entry.silent) say(entry, times);
  }
  for (const [table, mark] of Object.entries(MARKED) as [MarkedTable, string][]) {
    const found = await system.query(
      `select ${mark} as mark, count(*)::int as n from ${table} where ${mark} like 'F%' group by 1`,
    );
    const counts = new Map<string, number>(found.rows.map(({ mark, n }) => [mark, n]));
    for (const entry of known.ledger.entries.filter((each) => each.table === table)) {
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

async function approvalsKeepRule({ system, known }: Round): Promise<void> {
  for (const { clientId, workflow } of known.lasting.filter((party) => NEEDED[party.workflow] !== undefined)) {
    const { rows } = await system.query(
      `select p.payment_id, p.contact_id as creator, p.status as payment, pa.status, pa.authorisations, pa.remaining from payments p
       left join payment_approvals pa on pa.payment_id = p.id where p.client_id = $1`,
      [clientId],
    );
    const needed = NEEDED[workflow] as number;
    for (const row of rows) {
      const given = (row.authorisations ?? []).filter((each: { status: number }) => each.status === 1);
      const people = new Set(given.map((each: { contact_id: string }) => each.contact_id));
      const what = `${row.payment_id} of ${workflow}: ${JSON.stringify(row)}`;
      assert.equal(people.size, given.length, `one person counts once: ${what}`);
      assert.ok(!people.has(row.creator), `its creator approved ${what}`);
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
         join contacts person on person.contact_id = c.contact_id and person.status = 'enabled'
         where p.client_id = $1 and pa.status = 'Pending approval'
           and not exists (select from json_array_elements(pa.authorisations) a where a->>'contact_id' = c.contact_id)),
       kept as (select payment_id, contact_id from payment_approvers where client_id = $1 and may_authorise)
       (select 'missing', * from (table may except table kept) m) union all (select 'too many', * from (table kept except table may) k)`,
      [clientId],
    );
    assert.deepEqual(apart.rows, [], 'who may approve is kept as it follows from permissions and approvals');
  }
}

async function tenantsApart({ system, known }: Round): Promise<void> {
  for (const party of known.lasting) {
    const { rows } = await system.query(
      'select payment_id as id, status from payments where client_id = $1 order by 1',
      [party.clientId],
    );
    const shown = await paymentsOf(system, party);
    assert.deepEqual(shown.ids.toSorted(), rows.map(({ id }) => id).toSorted());
    assert.equal(shown.total, rows.length, 'the total is exact');
    for (const other of known.lasting.filter((each) => each !== party)) {
      const refused = await call(`${system.fronts[0]?.api}/payments?client_id=${other.clientId}`, 'GET', {
        token: party.token,
      });
      assert.equal(refused.status, 404, refused.text);
    }
  }
  const { rows } = await system.query('select payment_id, client_id from payments');
  const owners = new Map(rows.map(({ payment_id, client_id }) => [payment_id, client_id]));
  for (const { path, body } of known.paymentDeliveries)
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
