import { randomUUID } from 'node:crypto';
import { type Static, Type } from 'typebox';
import type { Act } from '../audit/act.ts';
import { noteChange } from '../audit/change.ts';
import { audit } from '../audit/record.ts';
import { leaveWork, type Transaction } from '../database/database.ts';
import { daysBetween, isCalendarDay } from '../values/calendar.ts';
import { attempt, Problem, refusedBody } from '../values/errors.ts';
import { Day, PATTERNS } from '../values/schemas.ts';

export const STATEMENT_FORMATS = ['pdf', 'csv', 'camt.053'] as const;
export type StatementFormat = (typeof STATEMENT_FORMATS)[number];
export const DELIVERY_METHODS = ['push', 'email', 'both'] as const;
export type DeliveryMethod = (typeof DELIVERY_METHODS)[number];
/** How a statement reaches its client. A `file` is stored until the client fetches it. */
export const DELIVERIES = [...DELIVERY_METHODS, 'file'] as const;
type Delivery = (typeof DELIVERIES)[number];

/** The most characters in the list of currencies: several times the length of a list of all currencies. */
const MAX_CURRENCIES_LENGTH = 2_000;

/** The body of a statement request. */
export const STATEMENT_REQUEST = Type.Object({
  date_from: Day('First day, a London day'),
  date_to: Day('Last day, included'),
  format: Type.Optional(
    Type.Enum(STATEMENT_FORMATS, {
      default: 'pdf',
      description: 'pdf: one file with a section for each currency; csv and camt.053: a file for each currency',
    }),
  ),
  currencies: Type.Optional(
    Type.String({
      pattern: PATTERNS.currencies,
      maxLength: MAX_CURRENCIES_LENGTH,
      description: 'ISO 4217 codes, comma-separated; default: every currency account',
    }),
  ),
  delivery: Type.Optional(
    Type.Enum(DELIVERY_METHODS, { description: 'How it is delivered; default: email', examples: ['email'] }),
  ),
  delivery_method: Type.Optional(Type.Enum(DELIVERY_METHODS, { description: 'Another name of delivery' })),
});
export type StatementInput = Static<typeof STATEMENT_REQUEST>;

interface RequestedAccount {
  account_id: number;
  currency: string;
  /** transactions.id of its last transaction. */
  last: number | null;
}

/**
 * Stores a statement request with its deliveries, in the caller's transaction. It covers what is booked now: the last transaction of each
 * account is stored, so that every attempt gives the same statement.
 * @param caller the client, and the contact who requests it and gets the mail
 * @param options `maxDays`: LOMBARD_STATEMENT_MAX_DAYS
 * @returns the request's id, and how it will be delivered
 * @throws Problem invalid_body, statement_period_too_long, statement_push_not_configured
 */
export async function requestStatement(
  tx: Transaction,
  act: Act,
  caller: { clientId: string; contactId: string },
  input: StatementInput,
  options: { maxDays: number },
): Promise<{ statementId: string; delivery: DeliveryMethod }> {
  checkPeriod(input, options.maxDays);
  const delivery = deliveryOf(input);
  const { clientId, contactId } = caller;
  const found = await tx.query<{ push: boolean; email: string; name: string }>(
    `select c.statement_push_url is not null as push, p.email, p.name from clients c, contacts p
     where c.client_id = $1 and p.contact_id = $2`,
    [clientId, contactId],
  );
  const { push, email, name } = found.rows[0]!;
  const accounts = await accountsOf(tx, clientId, input.currencies);
  if (delivery !== 'email' && !push) {
    throw new Problem('statement_push_not_configured', {
      field: input.delivery === undefined ? 'delivery_method' : 'delivery',
      message: 'must be email: the institution has set no statement_push_url for this client',
    });
  }
  const { date_from: dateFrom, date_to: dateTo, format = 'pdf' } = input;
  const request = { clientId, contactId, email, name, dateFrom, dateTo, format, delivery, accounts };
  return { statementId: await writeRequest(tx, act, request), delivery };
}

/** A request for a statement of one account, as a file that its client fetches. */
export interface FileInput {
  accountId: number;
  /** London days; both are included. */
  dateFrom: string;
  dateTo: string;
  format: StatementFormat;
}

/**
 * Requires that the period of a file can be served. It is checked before its account is looked up.
 * @param options `maxDays`: LOMBARD_STATEMENT_MAX_DAYS; `names`: the names of the ends of the period in the request
 * @throws Problem invalid_body, statement_period_too_long
 */
export function requireFilePeriod(
  { dateFrom, dateTo }: Pick<FileInput, 'dateFrom' | 'dateTo'>,
  { maxDays, names }: { maxDays: number; names: PeriodNames },
): void {
  const fault = attempt(() => checkPeriod({ date_from: dateFrom, date_to: dateTo }, maxDays, names));
  if (fault?.code === 'invalid_body' && fault.fault) throw refusedBody([{ ...fault.fault, code: 'invalid_format' }]);
  if (fault) throw fault;
}

/**
 * Stores the request of a statement that its client fetches as a file. It covers what is booked now.
 * @param input its period was checked (`requireFilePeriod`)
 * @returns the request's id
 */
export async function requestFile(
  tx: Transaction,
  act: Act,
  { clientId, contactId }: { clientId: string; contactId: string },
  { accountId, dateFrom, dateTo, format }: FileInput,
): Promise<string> {
  const contact = await tx.query<{ email: string; name: string }>(
    'select email, name from contacts where contact_id = $1',
    [contactId],
  );
  const { email, name } = contact.rows[0]!;
  const accounts = (await accountsOf(tx, clientId, undefined)).filter((account) => account.account_id === accountId);
  return writeRequest(tx, act, {
    ...{ clientId, contactId, email, name, dateFrom, dateTo, format, accounts },
    delivery: 'file',
  });
}

/** A request as it is stored. */
interface NewRequest {
  clientId: string;
  contactId: string;
  /** The contact's email. */
  email: string;
  name: string;
  dateFrom: string;
  dateTo: string;
  format: StatementFormat;
  delivery: Delivery;
  accounts: readonly RequestedAccount[];
}

/** @returns the request's id */
async function writeRequest(tx: Transaction, act: Act, request: NewRequest): Promise<string> {
  const { clientId, contactId, email, name, dateFrom, dateTo, format, delivery, accounts } = request;
  const statementId = randomUUID();
  await tx.query(
    `insert into statement_requests (statement_id, client_id, contact_id, email, contact_name, date_from, date_to, format, delivery,
       request_id, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [statementId, clientId, contactId, email, name, dateFrom, dateTo, format, delivery, act.requestId, act.now],
  );
  await tx.query(
    `insert into statement_sections (client_id, statement_id, currency, currency_account_id, last_transaction)
     select $1, $2, * from unnest($3::text[], $4::bigint[], $5::bigint[])`,
    [
      clientId,
      statementId,
      accounts.map((account) => account.currency),
      accounts.map((account) => account.account_id),
      accounts.map((account) => account.last),
    ],
  );
  const files = format === 'pdf' ? [''] : accounts.map((account) => account.currency);
  const deliveries = [
    ...(delivery === 'email' || delivery === 'both' ? [{ channel: 'email', currency: '' }] : []),
    ...(delivery === 'push' || delivery === 'both' ? files.map((currency) => ({ channel: 'push', currency })) : []),
    ...(delivery === 'file' ? [{ channel: 'file', currency: '' }] : []),
  ];
  leaveWork(tx, 'statements');
  await tx.query(
    `insert into statement_deliveries (client_id, statement_id, channel, currency, status, due_at, round_began_at)
     select $1, $2, channel, currency, 'requested', $3, $3 from unnest($4::text[], $5::text[]) as d(channel, currency)`,
    [clientId, statementId, act.now, deliveries.map((each) => each.channel), deliveries.map((each) => each.currency)],
  );
  const after = {
    date_from: dateFrom,
    date_to: dateTo,
    format,
    delivery,
    currencies: accounts.map((account) => account.currency),
  };
  audit(tx, act, { action: 'create', entity: 'statement', entityId: statementId, clientId, after });
  noteChange(tx, act, { entity: 'statement_request', id: statementId, clientId, action: 'create', created: true });
  return statementId;
}

/** The names that a request gives the ends of its period. */
interface PeriodNames {
  date_from: string;
  date_to: string;
}
const DAYS: PeriodNames = { date_from: 'date_from', date_to: 'date_to' };

function checkPeriod(input: PeriodNames, maxDays: number, names = DAYS): void {
  for (const field of ['date_from', 'date_to'] as const) {
    if (!isCalendarDay(input[field]))
      throw new Problem('invalid_body', { field, message: 'must be a calendar day as YYYY-MM-DD' });
  }
  const days = daysBetween(input.date_from, input.date_to) + 1;
  if (days < 1)
    throw new Problem('invalid_body', { field: names.date_to, message: `must not be before ${names.date_from}` });
  if (days > maxDays) {
    throw new Problem('statement_period_too_long', {
      field: names.date_to,
      message: `the period has ${days} days, first and last included; it must have at most ${maxDays}`,
    });
  }
}

function deliveryOf({ delivery, delivery_method: method }: StatementInput): DeliveryMethod {
  if (delivery !== undefined && method !== undefined && delivery !== method)
    throw new Problem('invalid_body', {
      field: 'delivery_method',
      message: 'must equal delivery, or be left out',
    });
  return delivery ?? method ?? 'email';
}

/** The requested currency accounts in the order of their currencies, each with its last transaction. */
async function accountsOf(
  tx: Transaction,
  clientId: string,
  currencies: string | undefined,
): Promise<RequestedAccount[]> {
  const { rows } = await tx.query<RequestedAccount>(
    `select a.account_id, a.currency,
       (select t.id from transactions t where t.client_id = $1 and t.currency_account_id = a.account_id
         order by t.id desc limit 1) as last
     from currency_accounts a where a.client_id = $1 order by a.currency`,
    [clientId],
  );
  // The specification's pattern allows codes without commas between them.
  const wanted = currencies === undefined ? undefined : new Set(currencies.match(/[A-Z]{3}/g));
  for (const currency of wanted ?? []) {
    if (!rows.some((account) => account.currency === currency))
      throw new Problem('invalid_body', {
        field: 'currencies',
        message: `the client has no currency account in ${currency}`,
      });
  }
  if (rows.length === 0)
    throw new Problem('invalid_body', { field: 'currencies', message: 'the client has no currency account' });
  return wanted ? rows.filter((account) => wanted.has(account.currency)) : rows;
}
