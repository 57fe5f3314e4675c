import { isDistributed } from '../database/cells/pool.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { RowList } from '../database/row-list.ts';
import type { PaymentNumber } from '../values/identifiers.ts';
import { telling, tellWaiting } from './notices.ts';
import type { ApprovalState } from './rules/rules.ts';

/** The table of who may act on a payment that is pending authorization (docs/approvals.md). */

/** The contacts who may authorise payments of a client now: permitted and enabled. */
export async function permittedContacts(db: Db, clientId: string): Promise<Set<string>> {
  return (await permittedOf(db, [clientId])).get(clientId) ?? new Set();
}

/** Like `permittedContacts`, by client. */
export async function permittedOf(db: Db, clientIds: readonly string[]): Promise<Map<string, Set<string>>> {
  const clients = [...new Set(clientIds)];
  if (clients.length === 0) return new Map();
  const list = new RowList(clients, (clientId) => clientId, {});
  const { rows } = await db.query<{ client_id: string; contact_id: string }>({
    name: list.named('permitted-contacts'),
    text: `select cc.client_id, cc.contact_id from contact_clients cc join contacts c using (contact_id)
      where ${list.belongs('cc')} and cc.can_authorise_payments and c.status = 'enabled' order by cc.contact_id`,
    values: list.values,
  });
  const permitted = new Map(clients.map((clientId) => [clientId, new Set<string>()]));
  for (const row of rows) permitted.get(row.client_id)?.add(row.contact_id);
  return permitted;
}

export interface Approver {
  contact: string;
  mayAuthorise: boolean;
  mayReject: boolean;
}

/** The approvers of a state. Whoever may authorise may always reject too. */
export function approversOf(state: ApprovalState): Approver[] {
  const authorise = new Set(state.mayAuthorise);
  const reject = new Set(state.mayReject);
  return [...new Set([...state.mayAuthorise, ...state.mayReject])].map((contact) => ({
    contact,
    mayAuthorise: authorise.has(contact),
    mayReject: reject.has(contact),
  }));
}

/** A waiting payment, and who may act on it. */
export interface PaymentApprovers {
  clientId: string;
  id: PaymentNumber;
  created: Date;
  paymentDate: string;
  approvers: readonly Approver[];
}

const WRITE = `insert into payment_approvers (client_id, payment_id, created, payment_date, contact_id, may_authorise, may_reject)
  select * from unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::date[], $5::text[], $6::boolean[], $7::boolean[])`;

/** Writes the approvers of payments that have none yet. @param quiet nobody gets a mail about them */
export async function writeApprovers(
  tx: Transaction,
  payments: readonly PaymentApprovers[],
  quiet: boolean,
): Promise<void> {
  const rows = payments.flatMap(({ approvers, ...payment }) => approvers.map((each) => ({ ...payment, ...each })));
  if (rows.length === 0) return;
  // Citus would plan the combined statement in parts.
  const apart = !quiet && isDistributed(tx);
  tx.later({
    name: quiet || apart ? 'approvers-write-quietly' : 'approvers-write',
    text: quiet || apart ? WRITE : telling(WRITE),
    values: [
      rows.map(({ clientId }) => clientId),
      rows.map(({ id }) => id),
      rows.map(({ created }) => created),
      rows.map(({ paymentDate }) => paymentDate),
      rows.map(({ contact }) => contact),
      rows.map(({ mayAuthorise }) => mayAuthorise),
      rows.map(({ mayReject }) => mayReject),
    ],
  });
  if (!apart) return;
  const told = rows.filter(({ mayAuthorise }) => mayAuthorise);
  await tellWaiting(
    tx,
    told.map(({ clientId, id, contact }) => ({ clientId, id, contactId: contact })),
  );
}

/** A contact of a client that groups can name. */
export interface ClientPerson {
  id: string;
  name: string;
  email: string;
  /** Whether an approval by this person counts now. */
  may_authorise: boolean;
}

/** What determines approvals besides the ruleset, and who can approve. */
export interface ApprovalScene {
  authorisation_workflow: string;
  payment_approvals_enabled: boolean;
  payment_creator_approval_enabled: boolean;
  approval_step_up: boolean;
  people: ClientPerson[];
}

/** What the form of a client's approval rules needs: the client's settings, and its contacts by name. */
export async function approvalScene(db: Db, clientId: string): Promise<ApprovalScene | undefined> {
  return first(
    await db.query<ApprovalScene & Record<string, unknown>>(
      `select c.authorisation_workflow, c.payment_approvals_enabled, c.payment_creator_approval_enabled, c.approval_step_up,
         coalesce((select json_agg(json_build_object('id', k.contact_id, 'name', k.name, 'email', k.email,
             'may_authorise', m.can_authorise_payments and k.status = 'enabled') order by k.name, k.contact_id)
           from contact_clients m join contacts k on k.contact_id = m.contact_id where m.client_id = $1), '[]') as people
       from clients c where c.client_id = $1`,
      [clientId],
    ),
  );
}
