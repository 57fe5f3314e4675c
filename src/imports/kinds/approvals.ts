import { evaluate } from '../../approvals/approval.ts';
import { type Approver, approversOf, permittedContacts } from '../../approvals/approvers.ts';
import { tellWaiting } from '../../approvals/notices.ts';
import { rulesOf, stateOf } from '../../approvals/requirement.ts';
import * as approvals from '../../approvals/workflow.ts';
import type { Act } from '../../audit/act.ts';
import { noteChange } from '../../audit/change.ts';
import type { Transaction } from '../../database/database.ts';
import { Problem } from '../../values/errors.ts';
import type { PaymentNumber } from '../../values/identifiers.ts';
import type { Refusals } from '../kind.ts';
import { pairKey } from '../references.ts';
import { type PaymentImportRow, PENDING, VALIDATING } from './payment-row.ts';

/** Approvals of imported payments: as those of single ones, for a batch at a time (five times as fast). */

/**
 * Finds what approval each row requires that has not been decided yet.
 * @param rows those of clients whose payments are approved
 */
export async function findRequirements(
  tx: Transaction,
  act: Act,
  rows: PaymentImportRow[],
  refusals: Refusals,
): Promise<void> {
  const open = rows.filter(({ status }) => (status ?? PENDING) === PENDING);
  if (open.length === 0) return;
  const clientIds = [...new Set(open.map(({ input }) => input.client_id))];
  // All turns in one call: taken line by line, two imports could wait for each other.
  await approvals.shareLock(tx, ...clientIds);
  const configured = await tx.query<{ client_id: string }>(
    'select distinct client_id from approval_configurations where client_id = any($1)',
    [clientIds],
  );
  const withRules = new Set(configured.rows.map((row) => row.client_id));
  const known = new Map<string, approvals.Requirement | null>();
  for (const row of open) {
    const { client_id: clientId, contact_id: creatorId, payment_currency: currency } = row.input;
    // The n-eyes workflows require the same whatever the amount, so each creator's requirement is found once.
    const key = withRules.has(clientId)
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
      refusals.set(row.line, error);
    }
  }
}

/** A payment whose approval is to be opened. */
interface PendingPayment {
  id: PaymentNumber;
  row: PaymentImportRow;
  requirement: approvals.Requirement;
}

/** How an approval begins; payments whose approvals have the same state have the same approvers. */
interface InitialApproval {
  state: Buffer;
  remaining: number;
  approvers: Approver[];
  /** Creation counts as an approval, which is stored with the creator's name and the date. */
  approvedByCreation: boolean;
}

interface OpenedPayment extends PendingPayment {
  approval: InitialApproval;
}

/** Opens the approvals of payments that are stored. @param ids the number of each payment_id */
export async function openApprovals(
  tx: Transaction,
  act: Act,
  rows: PaymentImportRow[],
  ids: Map<string, PaymentNumber>,
): Promise<void> {
  const initial = new InitialApprovals(tx);
  const batch: OpenedPayment[] = [];
  const single: PendingPayment[] = [];
  for (const row of rows) {
    const id = ids.get(row.id as string);
    const { requirement } = row;
    if (id === undefined || requirement === null) continue;
    const approval = await initial.find(row.input.client_id, requirement);
    if (approval.approvedByCreation) single.push({ id, row, requirement });
    else batch.push({ id, row, requirement, approval });
  }
  await insertApprovals(tx, act, batch);
  for (const payment of single) await openApproved(tx, act, payment);
}

/** The initial approvals of a batch, each worked out once. */
class InitialApprovals {
  readonly #tx: Transaction;
  readonly #known = new Map<string, InitialApproval>();
  readonly #permitted = new Map<string, Set<string>>();

  constructor(tx: Transaction) {
    this.#tx = tx;
  }

  async find(clientId: string, requirement: approvals.Requirement): Promise<InitialApproval> {
    const rules = await rulesOf(this.#tx, clientId, requirement);
    const state = stateOf(requirement, rules, []);
    const key = pairKey(clientId, state.toString('hex'));
    let approval = this.#known.get(key);
    if (!approval) {
      const permitted = this.#permitted.get(clientId) ?? (await permittedContacts(this.#tx, clientId));
      this.#permitted.set(clientId, permitted);
      const evaluated = evaluate(rules, { requirement, authorisations: [] }, permitted);
      approval = {
        state,
        remaining: evaluated.remaining,
        approvers: approversOf(evaluated),
        approvedByCreation: evaluated.complete || evaluated.approvals.length > 0,
      };
      this.#known.set(key, approval);
    }
    return approval;
  }
}

async function insertApprovals(tx: Transaction, act: Act, payments: OpenedPayment[]): Promise<void> {
  if (payments.length === 0) return;
  await tx.query(
    `insert into payment_approvals (payment_id, client_id, requirement, authorisations, remaining, status, state)
     select u.id, u.client_id, u.requirement, '[]', u.remaining, 'Pending approval', u.state
     from unnest($1::bigint[], $2::text[], $3::json[], $4::int[], $5::bytea[]) as u(id, client_id, requirement, remaining, state)`,
    [
      payments.map(({ id }) => id),
      payments.map(({ row }) => row.input.client_id),
      payments.map(({ requirement }) => JSON.stringify(requirement)),
      payments.map(({ approval }) => approval.remaining),
      payments.map(({ approval }) => approval.state),
    ],
  );
  const approvers = payments.flatMap(({ id, row, approval }) =>
    approval.approvers.map((approver) => ({ id, row, approver })),
  );
  await tx.query(
    `insert into payment_approvers (client_id, payment_id, created, payment_date, contact_id, may_authorise, may_reject)
     select * from unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::date[], $5::text[], $6::boolean[], $7::boolean[])`,
    [
      approvers.map(({ row }) => row.input.client_id),
      approvers.map(({ id }) => id),
      approvers.map(({ row }) => row.created),
      approvers.map(({ row }) => row.input.payment_date),
      approvers.map(({ approver }) => approver.contact),
      approvers.map(({ approver }) => approver.mayAuthorise),
      approvers.map(({ approver }) => approver.mayReject),
    ],
  );
  if (act.quiet) return;
  const told = approvers.filter(({ approver }) => approver.mayAuthorise);
  await tellWaiting(
    tx,
    told.map(({ id, row, approver }) => ({ id, clientId: row.input.client_id, contactId: approver.contact })),
  );
}

/** Opens an approval that creation counts for, and releases the payment where no other approval is needed. */
async function openApproved(tx: Transaction, act: Act, { id, row, requirement }: PendingPayment): Promise<void> {
  const clientId = row.input.client_id;
  const opened = await approvals.openApproval(
    tx,
    { id, clientId, created: row.created, paymentDate: row.input.payment_date, quiet: act.quiet ?? false },
    requirement,
  );
  if (opened.byCreation) {
    const decision = { id: `${row.id}/${row.input.contact_id}`, clientId, action: 'import' };
    noteChange(tx, act, { entity: 'approval', ...decision, created: true });
  }
  if (!opened.complete) return;
  row.status = VALIDATING;
  await tx.query(
    `update payments set status = $3, authorised_by = contact_id, authorised_date = created
     where client_id = $1 and id = $2`,
    [clientId, id, VALIDATING],
  );
}
