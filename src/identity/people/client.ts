import { type Static, Type } from 'typebox';
import type { Act } from '../../audit/act.ts';
import { type AuditEntry, audit } from '../../audit/record.ts';
import { type Db, first, type Transaction } from '../../database/database.ts';
import {
  chosen,
  hidden,
  type Input,
  initially,
  optional,
  type Patch,
  RecordKind,
  required,
  type Shown,
  type Stored,
} from '../../database/record.ts';
import {
  containing,
  insertRow,
  type List,
  type ListRequest,
  listRows,
  nextId,
  updateRow,
} from '../../database/rows.ts';
import type { Config } from '../../settings/config.ts';
import { isCalendarDay, londonDay } from '../../values/calendar.ts';
import type { Vault } from '../../values/crypto.ts';
import { Problem } from '../../values/errors.ts';
import { Exact } from '../../values/json.ts';
import { decimal, plain } from '../../values/money.ts';
import {
  ClientId,
  Currency,
  closed,
  Day,
  DecimalNumber,
  ExactNumber,
  formed,
  Id,
  Name,
  Nullable,
  Text,
} from '../../values/schemas.ts';
import { namesOf } from '../../values/unknown.ts';
import { parseUri } from '../uri.ts';

/** Words for approvals that records, rules and descriptions share (docs/decisions.md, 4). */

/** The eyes workflows: how many distinct approvers other than the creator each needs. */
export const EYES = { simple: 0, '4-eyes': 1, '6-eyes': 2, '8-eyes': 3, '10-eyes': 4 } as const;
export type AuthorisationWorkflow = keyof typeof EYES;
export const AUTHORISATION_WORKFLOWS = namesOf(EYES);

/** The states of a payment's approval. */
export const APPROVAL_STATUSES = ['Pending approval', 'Approved', 'Rejected', 'Cancelled'] as const;

const STATUS = Type.Enum(['enabled', 'disabled']);
const WORKFLOW = Type.Enum([...AUTHORISATION_WORKFLOWS]);
const PUSH_URL = Type.String({
  maxLength: 2_048,
  description: 'Where pushed statements are put: https (http too in a sandbox), without a user or a fragment',
  ...formed({ type: 'string', format: 'uri', pattern: '^https?://', maxLength: 2_048 }),
});
const PUSH_SECRET = Type.String({ maxLength: 512, description: 'Signs pushed statements; never shown again' });
const flag = (description?: string) => Type.Boolean(description === undefined ? {} : { description });
const NUMBER = 'The institution’s number for the client';

const LIMIT = Type.Object(
  {
    amount: DecimalNumber('Amount'),
    currency: Currency(),
  },
  { ...closed, description: 'What its contacts may order in a London day; null: no limit' },
);
type Limit = Static<typeof LIMIT>;
const SHOWN_LIMIT = Type.Object(
  { amount: ExactNumber('What its contacts may order in a London day'), currency: Type.String() },
  { title: 'DailyPaymentLimit' },
);

/** A limit in its stored form. @throws Problem invalid_body */
function readLimit({ amount, currency }: Limit): { amount: string; currency: string } {
  return { amount: decimal(amount, 'daily_payment_limit.amount'), currency };
}

/** A client of the institution: the company whose payments these are. */
export const CLIENT = new RecordKind({
  table: 'clients',
  id: 'client_id',
  fields: {
    client_id: chosen(Id('Chosen by the core; default: a new one'), { shown: ClientId }),
    client_name: required(Name('Name of the client')),
    account_number: optional(Text(NUMBER, 64), { shown: Nullable(Type.String({ description: NUMBER })) }),
    status: initially(STATUS, 'enabled'),
    fx_enabled: initially(flag('The client may trade FX'), true),
    mass_payments_customer: initially(
      flag('A customer of the mass payments offering, who gets no onboarding notifications'),
      false,
    ),
    authorisation_workflow: initially(WORKFLOW, 'simple'),
    payment_approvals_enabled: initially(flag(), false),
    payment_creator_approval_enabled: initially(flag(), false),
    /** docs/approvals.md */
    approval_step_up: initially(flag('An approval needs a verification code that is tied to the payment'), false, {
      shown: flag('An approval needs a verification code'),
    }),
    daily_payment_limit: optional(LIMIT, {
      shown: Nullable(SHOWN_LIMIT),
      normal: (limit: Limit) => JSON.stringify(readLimit(limit)),
      form: (limit: Limit) => `${plain(limit.amount)} ${limit.currency}`,
    }),
    statement_push_url: optional(PUSH_URL),
    /** It is stored sealed. */
    statement_push_secret: hidden(Nullable(PUSH_SECRET), {
      form: (secret: string | Buffer | null, vault) =>
        Buffer.isBuffer(secret) ? vault.open(secret, 'statement_push_secret') : secret || null,
    }),
    became_client: optional(Day('When it became a client'), {
      open: true,
      shown: Nullable(Type.String({ format: 'date' })),
    }),
  },
});
export type Client = Shown<typeof CLIENT>;
type ClientRow = Omit<Client, 'daily_payment_limit'> & {
  daily_payment_limit: { amount: string; currency: string } | null;
};

/** A client in the form that the operator reads. Its amounts keep their digits. */
function shown({ daily_payment_limit: limit, ...row }: ClientRow): Client {
  const exact = limit && { amount: new Exact(limit.amount), currency: limit.currency };
  return CLIENT.show(CLIENT.names, { ...row, daily_payment_limit: exact });
}
export type ClientInput = Input<typeof CLIENT>;

/** The columns of a new client whose stored form the record itself cannot produce. */
export function storedClient(input: ClientInput, { now, vault }: { now: Date; vault: Vault }): Stored {
  return {
    ...CLIENT.stored(input),
    statement_push_secret: sealed(vault, input.statement_push_secret),
    became_client: input.became_client ?? londonDay(now),
    created_at: now,
  };
}

function sealed(vault: Vault, secret: string | null | undefined): Buffer | null {
  return secret ? vault.seal(secret, 'statement_push_secret') : null;
}

/** Creates a client. `statement_push_secret` is stored encrypted. @throws Problem already_exists */
export async function createClient(tx: Transaction, act: Act, vault: Vault, input: ClientInput): Promise<Client> {
  const clientId = input.client_id ?? (await nextId(tx, 'client'));
  const row = { ...storedClient(input, { now: act.now, vault }), client_id: clientId };
  const made = await insertRow<ClientRow>(tx, CLIENT.table, row, {
    returning: CLIENT.select,
    computed: { cell: '(select number from cells where schema = current_schema())' },
  });
  const client = shown(made);
  audit(tx, act, { action: 'create', entity: 'client', entityId: clientId, clientId, after: client });
  return client;
}

/** Changes the fields in the patch. @throws Problem client_not_found */
export async function updateClient(
  tx: Transaction,
  act: Act,
  vault: Vault,
  { clientId, patch }: { clientId: string; patch: Patch<typeof CLIENT> },
): Promise<Client> {
  const found = first(
    await tx.query<ClientRow>(`select ${CLIENT.select} from clients where client_id = $1 for no key update`, [
      clientId,
    ]),
  );
  if (!found) throw new Problem('client_not_found', { field: 'client_id', message: 'does not exist' });
  const values = CLIENT.changes(patch);
  if (patch.statement_push_secret !== undefined)
    values.statement_push_secret = sealed(vault, patch.statement_push_secret);
  const changed = await updateRow<ClientRow>(tx, CLIENT.table, {
    key: { client_id: clientId },
    values,
    returning: CLIENT.select,
  });
  const before = shown(found);
  const after = changed && shown(changed);
  const entry: AuditEntry = { action: 'update', entity: 'client', entityId: clientId, clientId, before, after };
  audit(tx, act, entry);
  return after ?? before;
}

/** A client. @throws Problem client_not_found, which names `field` */
export async function findClient(db: Db, clientId: string, field = 'client_id'): Promise<Client> {
  const [client] = await readClients(db, [clientId]);
  if (!client) throw new Problem('client_not_found', { field, message: 'does not exist' });
  return client;
}

/** A page of clients in the order of their identifiers. @param q part of the name, the identifier or the account number */
export async function listClients(
  db: Db,
  request: ListRequest & { q?: string | undefined; status?: string | undefined },
): Promise<List<Client>> {
  const { q, status, ...page } = request;
  const found = "client_name ilike ? or client_id ilike ? or coalesce(account_number, '') ilike ?";
  const filters = [
    [`(${found})`, q === undefined ? undefined : containing(q)],
    ['status = ?', status],
  ] as const;
  const list = { select: CLIENT.select, from: CLIENT.table, order: 'client_id', filters };
  const { rows, total } = await listRows<ClientRow>(db, list, page);
  return { rows: rows.map(shown), total };
}

/** Clients in the form that the operator reads, for the change feed. Those that do not exist are left out. */
export async function readClients(db: Db, ids: readonly string[]): Promise<Client[]> {
  const found = await db.query<ClientRow>(`select ${CLIENT.select} from clients where client_id = any($1)`, [ids]);
  return found.rows.map(shown);
}

/**
 * Checks what the schema of a client's fields cannot express. Statements may be pushed over plain HTTP only in the sandbox.
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
