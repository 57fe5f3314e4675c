import type { Act } from '../../audit/act.ts';
import { type AuditEntry, audit } from '../../audit/record.ts';
import { type Db, first, type Transaction } from '../../database/database.ts';
import { containing, type List, type ListRequest, listRows, nextId, updateRow } from '../../database/rows.ts';
import type { Config } from '../../settings/config.ts';
import { isCalendarDay, londonDay } from '../../values/calendar.ts';
import type { Vault } from '../../values/crypto.ts';
import { Problem } from '../../values/errors.ts';
import { parseUri } from '../uri.ts';

/** A client of the institution: the company whose payments these are. */
export interface Client {
  client_id: string;
  client_name: string;
  account_number: string | null;
  status: 'enabled' | 'disabled';
  fx_enabled: boolean;
  mass_payments_customer: boolean;
  authorisation_workflow: AuthorisationWorkflow;
  payment_approvals_enabled: boolean;
  payment_creator_approval_enabled: boolean;
  /** An approval needs a verification code that is tied to the payment (docs/approvals.md). */
  approval_step_up: boolean;
  statement_push_url: string | null;
  became_client: string | null;
}

export interface ClientInput extends Partial<Omit<Client, 'client_id'>> {
  client_id?: string | undefined;
  client_name: string;
  statement_push_secret?: string | null;
}

const COLUMNS = `client_id, client_name, account_number, status, fx_enabled, mass_payments_customer, authorisation_workflow,
  payment_approvals_enabled, payment_creator_approval_enabled, approval_step_up, statement_push_url, became_client`;

/** Creates a client. `statement_push_secret` is stored encrypted. @throws Problem already_exists */
export async function createClient(tx: Transaction, act: Act, vault: Vault, input: ClientInput): Promise<Client> {
  const clientId = input.client_id ?? (await nextId(tx, 'client_numbers', 'CLI'));
  const { rows } = await tx.query<Client>(
    `insert into clients (client_id, client_name, account_number, status, fx_enabled, mass_payments_customer, authorisation_workflow,
       payment_approvals_enabled, payment_creator_approval_enabled, approval_step_up, statement_push_url, statement_push_secret,
       became_client, created_at, cell)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, (select number from cells where schema = current_schema()))
     returning ${COLUMNS}`,
    [
      clientId,
      input.client_name,
      input.account_number ?? null,
      input.status ?? 'enabled',
      input.fx_enabled ?? true,
      input.mass_payments_customer ?? false,
      input.authorisation_workflow ?? 'simple',
      input.payment_approvals_enabled ?? false,
      input.payment_creator_approval_enabled ?? false,
      input.approval_step_up ?? false,
      input.statement_push_url ?? null,
      input.statement_push_secret ? vault.seal(input.statement_push_secret, 'statement_push_secret') : null,
      input.became_client ?? londonDay(act.now),
      act.now,
    ],
  );
  const client = rows[0] as Client;
  await audit(tx, act, { action: 'create', entity: 'client', entityId: clientId, clientId, after: client });
  return client;
}

/** Changes the fields of the patch. @throws Problem client_not_found */
export async function updateClient(
  tx: Transaction,
  act: Act,
  vault: Vault,
  { clientId, patch }: { clientId: string; patch: Partial<ClientInput> },
): Promise<Client> {
  const before = first(
    await tx.query<Client>(`select ${COLUMNS} from clients where client_id = $1 for no key update`, [clientId]),
  );
  if (!before) throw new Problem('client_not_found', { field: 'client_id', message: 'does not exist' });
  const values: Record<string, unknown> = { ...patch };
  delete values.client_id;
  if (patch.statement_push_secret !== undefined) {
    values.statement_push_secret = patch.statement_push_secret
      ? vault.seal(patch.statement_push_secret, 'statement_push_secret')
      : null;
  }
  const after = await updateRow<Client>(tx, 'clients', {
    key: { client_id: clientId },
    values,
    returning: COLUMNS,
  });
  const entry: AuditEntry = { action: 'update', entity: 'client', entityId: clientId, clientId, before, after };
  await audit(tx, act, entry);
  return after ?? before;
}

/** A client. @throws Problem client_not_found, which names `field` */
export async function findClient(db: Db, clientId: string, field = 'client_id'): Promise<Client> {
  const client = first(await db.query<Client>(`select ${COLUMNS} from clients where client_id = $1`, [clientId]));
  if (!client) throw new Problem('client_not_found', { field, message: 'does not exist' });
  return client;
}

/** A page of clients in the order of their identifiers. @param q a part of the name, the identifier or the account number */
export function listClients(db: Db, request: ListRequest & { q?: string | undefined }): Promise<List<Client>> {
  const { q, ...page } = request;
  const found = "client_name ilike ? or client_id ilike ? or coalesce(account_number, '') ilike ?";
  const filters = [[`(${found})`, q === undefined ? undefined : containing(q)]] as const;
  return listRows(db, { select: COLUMNS, from: 'clients', order: 'client_id', filters }, page);
}

/** Clients as the operator reads them, for the change feed. Those that do not exist are left out. */
export async function readClients(db: Db, ids: readonly string[]): Promise<Client[]> {
  return (await db.query<Client>(`select ${COLUMNS} from clients where client_id = any($1)`, [ids])).rows;
}

/** The words of approvals that records, rules and descriptions share (docs/decisions.md, 4). */

/** The workflows of eyes: how many distinct approvers other than the creator each needs. */
export const EYES = { simple: 0, '4-eyes': 1, '6-eyes': 2, '8-eyes': 3, '10-eyes': 4 } as const;
export type AuthorisationWorkflow = keyof typeof EYES;
export const AUTHORISATION_WORKFLOWS = Object.keys(EYES) as AuthorisationWorkflow[];

/** How far the approval of a payment is. */
export const APPROVAL_STATUSES = ['Pending approval', 'Approved', 'Rejected', 'Cancelled'] as const;

/**
 * Checks what the schema of a client's fields cannot express. Statements may be pushed over plain HTTP in the sandbox only.
 * @throws Problem invalid_body
 */
export function checkClient(
  input: { statement_push_url?: string | null; became_client?: string | null },
  environment: Config['environment'],
): void {
  const { statement_push_url: address, became_client: day } = input;
  const schemes = environment === 'sandbox' ? ['https:', 'http:'] : ['https:'];
  if (address != null && !isPushAddress(address, schemes)) {
    throw new Problem('invalid_body', {
      field: 'statement_push_url',
      message: `must be an address with ${schemes.join(' or ')}, without user and fragment, percent-encoded (RFC 3986)`,
    });
  }
  if (day != null && !isCalendarDay(day))
    throw new Problem('invalid_body', { field: 'became_client', message: 'must be a calendar day as YYYY-MM-DD' });
}

function isPushAddress(address: string, schemes: string[]): boolean {
  const parsed = parseUri(address);
  return parsed !== undefined && schemes.includes(parsed.protocol) && parsed.username === '' && parsed.hash === '';
}
