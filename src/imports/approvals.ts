import { evaluate } from '../approvals/approval.ts';
import { type Approver, approversOf, permittedContacts } from '../approvals/approvers.ts';
import { rulesOf, stateOf } from '../approvals/requirement.ts';
import * as approvals from '../approvals/workflow.ts';
import type { Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import type { PaymentStatus } from '../payments/moves.ts';
import type { ImportScope, Numbered, Refusals } from './kind.ts';
import { type ClientFacts, pairKey } from './lookups.ts';
import type { PaymentRow } from './payments.ts';

/** Approvals of imported payments: as those of single ones, for a batch at a time (five times as fast). */

const PENDING: PaymentStatus = 'Payment pending of authorization';
const VALIDATING: PaymentStatus = 'Validating beneficiary information';

/** What the payments that have not been decided yet require. Eyes ask for the same whatever the amount, so they are asked once. */
export async function findRequirements(
  tx: Transaction,
  rows: Numbered<PaymentRow>[],
  clients: Map<string, ClientFacts>,
  refusals: Refusals,
  { act }: ImportScope,
): Promise<void> {
  const open = rows.filter(
    ({ line, row }) =>
      !refusals.has(line) && (row.status ?? PENDING) === PENDING && clients.get(row.given.client_id)?.approvalsEnabled,
  );
  if (open.length === 0) return;
  const clientIds = [...new Set(open.map(({ row }) => row.given.client_id))];
  // All turns in one call: taken line by line, two imports could wait for each other.
  await approvals.shareTurn(tx, ...clientIds);
  const { rows: configured } = await tx.query<{ client_id: string }>(
    'select distinct client_id from approval_configurations where client_id = any($1)',
    [clientIds],
  );
  const rulesets = new Set(configured.map((row) => row.client_id));
  const known = new Map<string, approvals.Requirement | null>();
  for (const { line, row } of open) {
    const { client_id: clientId, contact_id: creatorId, payment_currency: currency } = row.given;
    const key = rulesets.has(clientId)
      ? `${clientId}\0${creatorId}\0${currency}\0${row.amount}`
      : pairKey(clientId, creatorId);
    try {
      let requirement = known.get(key);
      if (requirement === undefined) {
        requirement = await approvals.requirementFor(tx, {
          clientId,
          creatorId,
          amount: row.amount,
          currency,
          now: act.now,
        });
        known.set(key, requirement);
      }
      row.requirement = requirement;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refusals.set(line, error);
    }
  }
}

interface Opening {
  id: number;
  row: PaymentRow;
  requirement: approvals.Requirement;
}

/** Where one approval stands from the beginning; payments with the same state have the same approvers. */
interface Beginning {
  state: Buffer;
  remaining: number;
  approvers: Approver[];
  /** Creation counts as an approval: it is written by its name and date. */
  creation: boolean;
}

/** Opens the approvals of payments that are in. @param ids payments.id by payment_id */
export async function openApprovals(
  tx: Transaction,
  rows: Numbered<PaymentRow>[],
  ids: Map<string, number>,
): Promise<void> {
  const beginnings = new Map<string, Beginning>();
  const permitted = new Map<string, Set<string>>();
  const plain: { opening: Opening; beginning: Beginning }[] = [];
  const created: Opening[] = [];
  for (const { row } of rows) {
    const id = ids.get(row.paymentId as string);
    const { requirement } = row;
    if (id === undefined || requirement === null) continue;
    const beginning = await beginningOf(tx, row.given.client_id, requirement, beginnings, permitted);
    if (beginning.creation) created.push({ id, row, requirement });
    else plain.push({ opening: { id, row, requirement }, beginning });
  }
  await writeAll(tx, plain);
  await openCreated(tx, created);
}

async function beginningOf(
  tx: Transaction,
  clientId: string,
  requirement: approvals.Requirement,
  beginnings: Map<string, Beginning>,
  permitted: Map<string, Set<string>>,
): Promise<Beginning> {
  const rules = await rulesOf(tx, clientId, requirement);
  const state = stateOf(requirement, rules, []);
  const key = pairKey(clientId, state.toString('hex'));
  let beginning = beginnings.get(key);
  if (!beginning) {
    const people = permitted.get(clientId) ?? (await permittedContacts(tx, clientId));
    permitted.set(clientId, people);
    const evaluated = evaluate(rules, { requirement, authorisations: [] }, people);
    beginning = {
      state,
      remaining: evaluated.remaining,
      approvers: approversOf(evaluated),
      creation: evaluated.complete || evaluated.approvals.length > 0,
    };
    beginnings.set(key, beginning);
  }
  return beginning;
}

async function writeAll(tx: Transaction, plain: { opening: Opening; beginning: Beginning }[]): Promise<void> {
  if (plain.length === 0) return;
  await tx.query(
    `insert into payment_approvals (payment_id, client_id, requirement, authorisations, remaining, status, state)
     select u.id, u.client_id, u.requirement, '[]', u.remaining, 'Pending approval', u.state
     from unnest($1::bigint[], $2::text[], $3::json[], $4::int[], $5::bytea[]) as u(id, client_id, requirement, remaining, state)`,
    [
      plain.map(({ opening }) => opening.id),
      plain.map(({ opening }) => opening.row.given.client_id),
      plain.map(({ opening }) => JSON.stringify(opening.requirement)),
      plain.map(({ beginning }) => beginning.remaining),
      plain.map(({ beginning }) => beginning.state),
    ],
  );
  const approvers = plain.flatMap(({ opening, beginning }) =>
    beginning.approvers.map((approver) => ({ opening, approver })),
  );
  await tx.query(
    `insert into payment_approvers (client_id, payment_id, created, payment_date, contact_id, may_authorise, may_reject)
     select * from unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::date[], $5::text[], $6::boolean[], $7::boolean[])`,
    [
      approvers.map(({ opening }) => opening.row.given.client_id),
      approvers.map(({ opening }) => opening.id),
      approvers.map(({ opening }) => opening.row.created),
      approvers.map(({ opening }) => opening.row.given.payment_date),
      approvers.map(({ approver }) => approver.contact),
      approvers.map(({ approver }) => approver.mayAuthorise),
      approvers.map(({ approver }) => approver.mayReject),
    ],
  );
}

/** Creation can be an approval, where the client lets creators approve, and even all that was needed. */
async function openCreated(tx: Transaction, openings: Opening[]): Promise<void> {
  for (const { id, row, requirement } of openings) {
    const clientId = row.given.client_id;
    const opened = await approvals.openApproval(
      tx,
      { id, clientId, created: row.created, paymentDate: row.given.payment_date },
      requirement,
    );
    if (!opened.complete) continue;
    row.status = VALIDATING;
    await tx.query(
      'update payments set status = $3, authorised_by = contact_id, authorised_date = created where client_id = $1 and id = $2',
      [clientId, id, VALIDATING],
    );
  }
}
