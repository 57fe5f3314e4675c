/** The shapes of `npm run bench -- search`. */

import type { Pool } from '../src/database/database.ts';
import type { SearchQuery } from '../src/payments/search/search-parameters.ts';
import { addDays } from '../src/values/calendar.ts';
import { FIRST_DAY } from './payments-data.ts';

export interface Shape {
  name: string;
  /** The query of a client. The number of its payments makes deep pages comparable. */
  query: (client: string, payments: number, pool: Pool) => Promise<SearchQuery> | SearchQuery;
  /** How many times as long the big client's page may take as the small client's. */
  most: number;
}

const day = (n: number) => addDays(FIRST_DAY, n);

/** The value of a column in one of the client's payments, counted from the oldest. */
async function one(pool: Pool, client: string, column: string, skip: number): Promise<string> {
  const { rows } = await pool.query(
    `select ${column} as value from payments where client_id = $1 order by created offset $2 limit 1`,
    [client, skip],
  );
  return rows[0].value;
}

async function ids(pool: Pool, client: string): Promise<string> {
  const { rows } = await pool.query(
    "select string_agg(payment_id, ',') as ids from (select payment_id from payments where client_id = $1 limit 50) p",
    [client],
  );
  return rows[0].ids;
}

export const SHAPES: Shape[] = [
  { name: 'default page', query: () => ({}), most: 1.5 },
  { name: 'default page, descending', query: () => ({ order: 'desc' }), most: 1.5 },
  { name: 'by payment date', query: () => ({ order_by: 'value_date' }), most: 1.5 },
  ...(
    [
      'pending',
      'pending_to_authorise',
      'authorised',
      'cancelled',
      'rejected',
      'complete',
      'pending_your_approval',
      'pending_others_approval',
    ] as const
  ).map((status): Shape => ({ name: `status ${status}`, query: () => ({ status }), most: 1.5 })),
  { name: 'status complete by payment date', query: () => ({ status: 'complete', order_by: 'value_date' }), most: 1.5 },
  { name: 'created in a month', query: () => ({ from_created_date: day(600), to_created_date: day(630) }), most: 1.5 },
  {
    name: 'created in a quarter',
    query: () => ({ from_created_date: day(600), to_created_date: day(690) }),
    most: 1.5,
  },
  {
    name: 'payment date in a quarter, by creation',
    query: () => ({ from_payment_date: day(600), to_payment_date: day(690) }),
    most: 1.5,
  },
  {
    name: 'created in a quarter, by payment date',
    query: () => ({ from_created_date: day(600), to_created_date: day(690), order_by: 'value_date' }),
    most: 1.5,
  },
  {
    name: 'created in a year and a half',
    query: () => ({ from_created_date: day(200), to_created_date: day(750) }),
    most: 1.5,
  },
  {
    name: 'payment date in a month, by payment date',
    query: () => ({ from_payment_date: day(600), to_payment_date: day(630), order_by: 'value_date' }),
    most: 1.5,
  },
  {
    name: 'payment date in a month, by creation',
    query: () => ({ from_payment_date: day(600), to_payment_date: day(630) }),
    most: 1.5,
  },
  {
    name: 'payment date in a year and a half, by creation',
    query: () => ({ from_payment_date: day(200), to_payment_date: day(750) }),
    most: 1.5,
  },
  {
    name: 'one payment date, by creation',
    query: () => ({ from_payment_date: day(600), to_payment_date: day(600) }),
    most: 1.5,
  },
  {
    name: 'created in a month, by payment date',
    query: () => ({ from_created_date: day(600), to_created_date: day(630), order_by: 'value_date' }),
    most: 1.5,
  },
  { name: 'currency', query: () => ({ payment_currency: 'EUR' }), most: 1.5 },
  { name: 'three currencies', query: () => ({ payment_currency: 'EUR,SEK,JPY' }), most: 1.5 },
  { name: 'status + currency', query: () => ({ status: 'complete', payment_currency: 'EUR' }), most: 1.5 },
  { name: 'pending + rare currency', query: () => ({ status: 'pending', payment_currency: 'SEK' }), most: 1.5 },
  {
    name: 'status + created in a month',
    query: () => ({ status: 'complete', from_created_date: day(600), to_created_date: day(630) }),
    most: 10,
  },
  {
    name: 'status + currency + created in a year',
    query: () => ({
      status: 'complete',
      payment_currency: 'EUR',
      from_created_date: day(200),
      to_created_date: day(565),
    }),
    most: 10,
  },
  { name: '50 payment_ids', query: async (client, _, pool) => ({ payment_ids: await ids(pool, client) }), most: 1.5 },
  {
    name: 'trade',
    query: async (client, n, pool) => ({ trade_id: await one(pool, client, 'trade_id', Math.floor(n / 2)) }),
    most: 1.5,
  },
  {
    name: 'beneficiary',
    query: async (client, n, pool) => ({
      beneficiary_id: await one(pool, client, 'beneficiary_id', Math.floor(n / 2)),
    }),
    most: 1.5,
  },
  {
    name: 'reference',
    query: async (client, n, pool) => ({ reference: await one(pool, client, 'reference', Math.floor(n / 2)) }),
    most: 1.5,
  },
  { name: 'page 5,000 (the small client: its last)', query: (_, n) => ({ page: Math.min(5_000, n / 50) }), most: 1.5 },
  { name: 'page 5,000, descending', query: (_, n) => ({ page: Math.min(5_000, n / 50), order: 'desc' }), most: 1.5 },
  {
    name: 'page 5,000 by payment date',
    query: (_, n) => ({ page: Math.min(5_000, n / 50), order_by: 'value_date' }),
    most: 1.5,
  },
  {
    name: 'page 5,000 by payment date, descending',
    query: (_, n) => ({ page: Math.min(5_000, n / 50), order_by: 'value_date', order: 'desc' }),
    most: 1.5,
  },
  { name: 'page 15,000', query: (_, n) => ({ page: Math.min(15_000, n / 50) }), most: 1.5 },
  { name: 'a page after the last', query: () => ({ page: 1_000_000 }), most: 1.5 },
  { name: 'amount over 1,000', query: () => ({ amount: 1_000, amount_range: 'over' }), most: 10 },
  { name: 'amount over 20,000 (few)', query: () => ({ amount: 20_000, amount_range: 'over' }), most: 10 },
  { name: 'amount over 22,000 (very few)', query: () => ({ amount: 22_000, amount_range: 'over' }), most: 10 },
  { name: 'amount below 100', query: () => ({ amount: 100, amount_range: 'below' }), most: 10 },
  { name: 'amount equal to 1,000', query: () => ({ amount: 1_000, amount_range: 'equal' }), most: 10 },
  {
    name: 'amount over 1,000 + currency',
    query: () => ({ amount: 1_000, amount_range: 'over', payment_currency: 'SEK' }),
    most: 1_000,
  },
  { name: 'page of 1,000', query: () => ({ page_size: 1_000 }), most: 1.5 },
];
