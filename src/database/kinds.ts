/**
 * The kinds of records, each declared once: their names in the trail and the feed, their tables, and how identifiers are made. It also says
 * what moves with a client, what a reset removes and what an erasure searches. How the feed reads each kind is in src/feed/records.ts,
 * because that file knows the rooms. Tables that belong to no kind are in cells/tables.ts.
 */

/** Where copies of a person's name, address and phone number are stored. */
export interface Copies {
  table: string;
  /** The columns of its primary key. */
  key: string;
  /**
   * Columns that may contain the person's data. `json`: a record; `changes`: many records of the change feed; `mail`: a mail; `text`:
   * anything else.
   */
  columns: Record<string, 'json' | 'changes' | 'mail' | 'text'>;
  /** The number of rows that one transaction examines; by default a thousand. */
  batchRows?: number;
}

interface KindFacts {
  /**
   * The owner of its records. By default each belongs to a client and is in the client's cell. The others exist once: `itself` is the
   * client record.
   */
  owner?: 'itself' | 'nobody';
  table: string;
  /** The column that identifies its records. */
  id: string;
  /** Set if the type of the id is not text. */
  type?: 'uuid' | 'bigint';
  /** A select of `id`: how the trail and the feed identify the records of the client `$1`. Set if that is not a column. */
  ids?: string;
  /** The prefix of its identifiers, before a number of the sequence `KIND_numbers`. Without a prefix they are random UUIDs. */
  prefix?: string;
  /** Columns whose values callers may choose, so they must be unique across all cells (cells/identifiers.ts). All but `id` are UUIDs. */
  claims?: readonly string[];
  /** Its audit row is also its change in the feed, under the same name and identifier. Kinds without it note their changes themselves. */
  audited?: true;
  /** The noun of the operator's address of one record, such as `payments` in `/payments/:payment_id`. */
  address?: string;
  /** Tables that belong to it, each before those that it refers to. */
  details?: readonly string[];
  copies?: Copies;
}

/** In the order in which the documentation describes the feed. */
const DECLARED = {
  client: { owner: 'itself', table: 'clients', id: 'client_id', prefix: 'CLI', audited: true },
  contact: { owner: 'nobody', table: 'contacts', id: 'contact_id', prefix: 'CON', audited: true },
  application: { owner: 'nobody', table: 'applications', id: 'client_id', prefix: 'APP', audited: true },
  account: {
    ...{ table: 'accounts', id: 'account_id', type: 'uuid', audited: true, address: 'accounts' },
    claims: ['account_id'],
  },
  currency_account: {
    ...{ table: 'currency_accounts', id: 'account_id', type: 'bigint', audited: true, address: 'currency-accounts' },
    details: ['holds'],
  },
  beneficiary: {
    ...{ table: 'beneficiaries', id: 'beneficiary_id', prefix: 'BEN', audited: true, address: 'beneficiaries' },
    claims: ['beneficiary_id'],
    details: ['beneficiary_changes'],
  },
  trade: {
    ...{ table: 'trades', id: 'trade_id', prefix: 'TRD', audited: true, address: 'trades' },
    claims: ['trade_id'],
    details: ['trade_beneficiaries'],
  },
  quote: { table: 'quotes', id: 'quote_id', audited: true, address: 'quotes' },
  payment: {
    ...{ table: 'payments', id: 'payment_id', prefix: 'PAY', audited: true, address: 'payments' },
    claims: ['payment_id', 'uuid'],
  },
  approval: {
    ...{ table: 'payment_approvals', id: 'payment_id', type: 'bigint' },
    ids: `select p.payment_id || '/' || (a.value->>'contact_id') as id
      from payment_approvals pa join payments p on p.client_id = pa.client_id and p.id = pa.payment_id,
        json_array_elements(pa.authorisations) a where pa.client_id = $1`,
    details: ['step_up_payments', 'step_up_challenges', 'payment_notices', 'payment_decisions', 'payment_approvers'],
    copies: { table: 'payment_approvals', key: 'payment_id', columns: { authorisations: 'json' } },
  },
  multipayment: {
    ...{ table: 'multipayments', id: 'multipayment_id', type: 'bigint', address: 'multipayments' },
    claims: ['multipayment_unique_id'],
  },
  mass_payment: {
    ...{ table: 'mass_payments', id: 'mass_payment_id', type: 'uuid', audited: true, address: 'mass-payments' },
    claims: ['mass_payment_id'],
    details: ['mass_payment_rows', 'payment_initiations'],
  },
  mass_beneficiary: {
    ...{ table: 'mass_beneficiaries', id: 'mass_beneficiary_id', type: 'uuid' },
    ...{ audited: true, address: 'mass-beneficiaries' },
    claims: ['mass_beneficiary_id'],
    details: ['mass_beneficiary_errors', 'mass_beneficiary_rows'],
  },
  transaction: {
    ...{ table: 'transactions', id: 'transaction_id', audited: true, address: 'transactions' },
    claims: ['transaction_id'],
  },
  account_details: {
    ...{ owner: 'nobody', table: 'account_details', id: 'account_details_id', type: 'uuid', audited: true },
  },
  currency: { owner: 'nobody', table: 'currencies', id: 'currency', audited: true },
  approval_configuration: {
    ...{ table: 'approval_configurations', id: 'client_id' },
    copies: { table: 'approval_configurations', key: 'client_id, version', columns: { configuration: 'json' } },
  },
  subscription: {
    ...{ table: 'subscriptions', id: 'id', type: 'uuid', audited: true, address: 'subscriptions' },
    details: ['webhook_stream_positions', 'webhook_streams', 'webhook_endpoints'],
  },
  statement_request: {
    ...{ table: 'statement_requests', id: 'statement_id', type: 'uuid', address: 'statements' },
    details: ['statement_files', 'statement_deliveries', 'statement_sections'],
    copies: { table: 'statement_deliveries', key: 'id', columns: { last_error: 'text' } },
  },
} as const satisfies Record<string, KindFacts>;

/** A kind of record: its name in the audit trail and the change feed (docs/change-feed.md). */
export type Kind = keyof typeof DECLARED;
export const KINDS: Readonly<Record<Kind, KindFacts>> = DECLARED;
export const KIND_NAMES = Object.keys(DECLARED) as Kind[];

/** A column with identifiers that callers may choose. */
export type ClaimedField = ClaimsOf<(typeof DECLARED)[Kind]>;
type ClaimsOf<Facts> = Facts extends { claims: readonly (infer Column)[] } ? Column : never;

/**
 * The kinds that a reset removes, in the order in which it deletes (and so locks) the rows: each kind before those that its tables refer
 * to. Payments come first, because whoever moves a payment locks it before the accounts that it is booked on. A reset keeps all other
 * kinds.
 */
export const REMOVED_KINDS: readonly Kind[] = [
  ...([
    'approval',
    'payment',
    'transaction',
    'statement_request',
    'mass_payment',
    'mass_beneficiary',
    'trade',
    'quote',
  ] satisfies Kind[]),
  ...(['multipayment', 'beneficiary', 'currency_account', 'account', 'approval_configuration'] satisfies Kind[]),
];

/** The same kinds, in the order in which the feed reports their removal: each record before those that it names. */
export const TOLD_KINDS: readonly Kind[] = [
  ...(['statement_request', 'transaction', 'currency_account', 'account', 'approval', 'payment'] satisfies Kind[]),
  ...([
    'trade',
    'quote',
    'multipayment',
    'mass_payment',
    'beneficiary',
    'mass_beneficiary',
    'approval_configuration',
  ] satisfies Kind[]),
];

export function isKind(name: string): name is Kind {
  return Object.hasOwn(DECLARED, name);
}

/** Whether records of this kind belong to clients and are in their cells. */
export function isOfClients(kind: Kind): boolean {
  return KINDS[kind].owner === undefined;
}

/** The tables of a kind, each before those that it refers to. */
export function tablesOf(kind: Kind): string[] {
  const { details = [], table } = KINDS[kind];
  return [...details, table];
}

/** A select of `id`: how the trail and the feed identify a kind's records of the client `$1`. */
export function idsOf(kind: Kind): string {
  const { table, id, type, ids } = KINDS[kind];
  return ids ?? `select ${id}${type ? '::text' : ''} as id from ${table} where client_id = $1`;
}
