import { randomUUID } from 'node:crypto';
import { audit } from '../audit.ts';
import { daysBetween, isCalendarDay } from '../calendar.ts';
import type { Act } from '../context.ts';
import type { Transaction } from '../database.ts';
import { Problem } from '../errors.ts';

export const STATEMENT_FORMATS = ['pdf', 'csv', 'camt.053'] as const;
export type StatementFormat = (typeof STATEMENT_FORMATS)[number];
export const STATEMENT_DELIVERIES = ['push', 'email', 'both'] as const;
export type StatementDelivery = (typeof STATEMENT_DELIVERIES)[number];

/** The body of POST /statements/accounts. */
export interface StatementGiven {
  date_from: string;
  date_to: string;
  format?: StatementFormat;
  currencies?: string;
  delivery?: StatementDelivery;
  delivery_method?: StatementDelivery;
}

interface Account {
  account_id: number;
  currency: string;
  last: number | null;
}

/**
 * Takes a statement request: what it covers and every delivery of it, in the caller's transaction. It covers what is booked
 * now: each account's last transaction is noted, so that no attempt says another thing than the first.
 * @param asking the client, and the contact who asks, to whom the mail goes
 * @param maxDays LOMBARD_STATEMENT_MAX_DAYS
 * @returns the request's id, and how it will be delivered
 * @throws Problem invalid_body, statement_period_too_long, statement_push_not_configured
 */
export async function requestStatement(
  tx: Transaction,
  act: Act,
  asking: { clientId: string; contactId: string },
  given: StatementGiven,
  maxDays: number,
): Promise<{ statementId: string; delivery: StatementDelivery }> {
  checkPeriod(given, maxDays);
  const delivery = deliveryOf(given);
  const format = given.format ?? 'pdf';
  const { clientId, contactId } = asking;
  const found = await tx.query<{ push: boolean; email: string; name: string }>(
    `select c.statement_push_url is not null as push, p.email, p.name from clients c, contacts p
     where c.client_id = $1 and p.contact_id = $2`,
    [clientId, contactId],
  );
  const { push, email, name } = found.rows[0]!;
  const accounts = await accountsOf(tx, clientId, given.currencies);
  if (delivery !== 'email' && !push) {
    throw new Problem('statement_push_not_configured', {
      field: 'delivery',
      message: 'the institution has set no statement_push_url for this client; ask for email',
    });
  }
  const statementId = randomUUID();
  await tx.query(
    `insert into statement_requests (statement_id, client_id, contact_id, email, contact_name, date_from, date_to, format, delivery, request_id, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      statementId,
      clientId,
      contactId,
      email,
      name,
      given.date_from,
      given.date_to,
      format,
      delivery,
      act.requestId,
      act.now,
    ],
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
    ...(delivery === 'push' ? [] : [{ channel: 'email', currency: '' }]),
    ...(delivery === 'email' ? [] : files.map((currency) => ({ channel: 'push', currency }))),
  ];
  await tx.query(
    `insert into statement_deliveries (client_id, statement_id, channel, currency, status, due_at)
     select $1, $2, channel, currency, 'requested', $3 from unnest($4::text[], $5::text[]) as d(channel, currency)`,
    [clientId, statementId, act.now, deliveries.map((each) => each.channel), deliveries.map((each) => each.currency)],
  );
  const { date_from, date_to } = given;
  const after = { date_from, date_to, format, delivery, currencies: accounts.map((account) => account.currency) };
  await audit(tx, act, { action: 'create', entity: 'statement', entityId: statementId, clientId, after });
  return { statementId, delivery };
}

function checkPeriod(given: StatementGiven, maxDays: number): void {
  for (const field of ['date_from', 'date_to'] as const) {
    if (!isCalendarDay(given[field]))
      throw new Problem('invalid_body', { field: `${field}`, message: 'must be a calendar day, YYYY-MM-DD' });
  }
  const days = daysBetween(given.date_from, given.date_to) + 1;
  if (days < 1) throw new Problem('invalid_body', { field: 'date_to', message: 'must not be before date_from' });
  if (days > maxDays) {
    throw new Problem('statement_period_too_long', {
      field: 'date_to',
      message: `the period has ${days} days, both ends counted; it must have at most ${maxDays}`,
    });
  }
}

function deliveryOf({ delivery, delivery_method: method }: StatementGiven): StatementDelivery {
  if (delivery !== undefined && method !== undefined && delivery !== method)
    throw new Problem('invalid_body', {
      field: 'delivery_method',
      message: 'must be the same as delivery, or be left out',
    });
  return delivery ?? method ?? 'email';
}

/** The currency accounts that are asked for, in the order of their currencies, each with its last transaction. */
async function accountsOf(tx: Transaction, clientId: string, currencies: string | undefined): Promise<Account[]> {
  const { rows } = await tx.query<Account>(
    `select a.account_id, a.currency,
       (select t.id from transactions t where t.client_id = a.client_id and t.currency_account_id = a.account_id order by t.id desc limit 1) as last
     from currency_accounts a where a.client_id = $1 order by a.currency`,
    [clientId],
  );
  // The comma between two codes may be missing: the specification's pattern allows it.
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
