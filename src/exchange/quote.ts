import { randomUUID } from 'node:crypto';
import type { Act } from '../audit/act.ts';
import { noteRecord } from '../audit/change.ts';
import { audit } from '../audit/record.ts';
import { overCells } from '../database/cells/union.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { LOCKS } from '../database/locks.ts';
import { type List, type ListRequest, listRows } from '../database/rows.ts';
import { Problem } from '../values/errors.ts';
import { textArray } from '../values/text-array.ts';
import {
  QUOTE_COLUMNS,
  QUOTE_DAYS,
  type QuoteRecord,
  type QuoteRow,
  type QuoteStatus,
  quoteRecord,
  storedTerms,
} from './quote-declaration.ts';
import type { QuoteRequest, QuoteTerms } from './quote-terms.ts';

/** The most open quotes of a contact, for all of its clients. */
const MAX_OPEN_QUOTES = 20;
const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

/** Who asks for a quote. */
interface Asking {
  clientId: string;
  contactId: string;
}

/**
 * When the open quotes of a contact expire, the earliest first. It locks them, so the contact's next quote waits until this one is known.
 * @param contact with its clients: those in other cells count for nothing here
 * @returns at most as many as may be open
 */
export async function lockOpenQuotes(
  tx: Transaction,
  { contactId, clientIds }: { contactId: string; clientIds: Iterable<string> },
  now: Date,
): Promise<Date[]> {
  tx.later({
    name: 'quotes-lock',
    text: 'select pg_advisory_xact_lock($1, hashtext($2))',
    values: [LOCKS.openQuotes, contactId],
  });
  const { rows } = await tx.query<{ expires_at: Date }>({
    name: 'quotes-open',
    text: `select expires_at from quotes where client_id = any($1) and contact_id = $2 and trade_id is null and expires_at > $3
      order by expires_at limit ${MAX_OPEN_QUOTES}`,
    values: [textArray([...clientIds]), contactId, now],
  });
  return rows.map(({ expires_at: at }) => at);
}

/**
 * Stores a quote. Its moments are whole seconds, as answers show them.
 * @param open when the contact's open quotes expire (`lockOpenQuotes`)
 * @throws Problem rate_limited if too many are open
 */
export async function createQuote(
  tx: Transaction,
  act: Act,
  { clientId, contactId }: Asking,
  { request, terms, seconds, open }: { request: QuoteRequest; terms: QuoteTerms; seconds: number; open: Date[] },
): Promise<QuoteRow> {
  const [next] = open;
  if (next && open.length >= MAX_OPEN_QUOTES)
    throw new Problem('rate_limited', `a contact has at most ${MAX_OPEN_QUOTES} open quotes; book one, or wait`, {
      retryAfterSeconds: Math.ceil((next.getTime() - act.now.getTime()) / SECOND_MS),
    });
  const created = Math.floor(act.now.getTime() / SECOND_MS) * SECOND_MS;
  const stored = storedTerms(request, terms);
  const row: QuoteRow = {
    ...{ quote_id: randomUUID().replaceAll('-', ''), client_id: clientId, contact_id: contactId, trade_id: null },
    ...stored,
    ...{ created_at: new Date(created), expires_at: new Date(created + seconds * SECOND_MS) },
  };
  const names = QUOTE_COLUMNS.split(/,\s+/);
  tx.later({
    name: 'quote-create',
    text: `insert into quotes (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    values: names.map((name) => row[name]),
  });
  const after = quoteRecord(row, act.now);
  audit(tx, act, { action: 'create', entity: 'quote', entityId: row.quote_id, clientId, after });
  noteRecord(tx, 'quote', row.quote_id, () => ({ text: JSON.stringify(after) }));
  return row;
}

/** Quotes that were created before this moment can no longer be read. */
export function oldestQuote(now: Date): Date {
  return new Date(now.getTime() - QUOTE_DAYS * DAY_MS);
}

/** A quote of a client. @throws Problem quote_not_found */
export async function findClientQuote(db: Db, clientId: string, quoteId: string, now: Date): Promise<QuoteRow> {
  const found = first(
    await db.query<QuoteRow>({
      name: 'quote-of-client',
      text: `select ${QUOTE_COLUMNS} from quotes where client_id = $1 and quote_id = $2 and created_at > $3`,
      values: [clientId, quoteId, oldestQuote(now)],
    }),
  );
  return found ?? noQuote();
}

/** Any quote, for the institution. @throws Problem quote_not_found */
export async function findQuote(db: Db, quoteId: string, now: Date): Promise<QuoteRecord> {
  const values = [quoteId, oldestQuote(now)];
  const found = first(
    await db.query<QuoteRow>(`select ${QUOTE_COLUMNS} from quotes where quote_id = $1 and created_at > $2`, values),
  );
  return found ? quoteRecord(found, now) : noQuote();
}

/** Quotes in the form that the institution reads, in any order. */
export async function readQuotes(db: Db, ids: readonly string[], now: Date): Promise<QuoteRecord[]> {
  const text = `select ${QUOTE_COLUMNS} from quotes where quote_id = any($1)`;
  const { rows } = await db.query<QuoteRow>(overCells(db, 'quotes', text), [textArray(ids)]);
  return rows.map((row) => quoteRecord(row, now));
}

/** A page of quotes, the newest first. */
export async function listQuotes(
  db: Db,
  { status, now, ...request }: ListRequest & { status?: QuoteStatus | undefined; now: Date },
): Promise<List<QuoteRecord>> {
  const wanted = (which: QuoteStatus, value: unknown) => (status === which ? value : undefined);
  const filters = [
    ['created_at > ?', oldestQuote(now)],
    ['(trade_id is not null) = ?', wanted('used', true)],
    ['trade_id is null and expires_at > ?', wanted('open', now)],
    ['trade_id is null and expires_at <= ?', wanted('expired', now)],
  ] as const;
  const list = {
    ...{ select: QUOTE_COLUMNS, from: 'quotes', client: 'client_id', order: 'created_at desc, id desc', filters },
  };
  const { rows, total } = await listRows<QuoteRow>(db, list, request);
  return { rows: rows.map((row) => quoteRecord(row, now)), total };
}

/** @throws Problem quote_not_found, always */
export function noQuote(): never {
  throw new Problem('quote_not_found', { field: 'quote_id', message: 'does not exist' });
}
