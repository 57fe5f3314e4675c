import { isDistributed } from '../../database/cells/pool.ts';
import type { Db } from '../../database/database.ts';
import { present } from '../../values/unknown.ts';
import {
  AS_TEXT,
  INSTITUTION_COLUMNS,
  isEmpty,
  MAY_MANAGE,
  PAYMENT_COLUMNS,
  type PaymentTexts,
  paymentJoins,
} from '../payment-fields.ts';
import { createPaymentWriter } from '../payment-json.ts';
import type { PaymentView } from '../presentation.ts';
import { mayManage, withPermissions } from '../viewer-permissions.ts';
import type { PaymentSearch } from './search-parameters.ts';
import { searchPlan } from './search-plan.ts';
import { Parameters, statementName } from './search-statement.ts';

/** A page of payments as a JSON array, and the total number of matches. */
export interface PaymentPage {
  total: number;
  body: string;
}

/** A statement of the search, ready to run. */
export interface SearchStatement {
  name: string | undefined;
  text: string;
  values: unknown[];
}

/**
 * Searches the client's payments (service interface, GET /payments; docs/decisions.md, 2). One statement returns the page and its exact
 * total from the same snapshot. docs/search.md says what each combination of filters costs.
 */
export async function searchPayments(db: Db, view: PaymentView, search: PaymentSearch): Promise<PaymentPage> {
  const statement = await withPermissions(db, searchStatement(view, search, isDistributed(db)));
  const { rows } = await db.query<PaymentTexts>({ ...statement, rowMode: 'array', types: AS_TEXT });
  const head = present(rows[0]);
  const total = Number(head[TOTAL]);
  if (isEmpty(head)) return { total, body: '[]' };
  const write = createPaymentWriter(view);
  const manages = head[MAY_MANAGE] === 't';
  let body = '[';
  for (const row of rows) body += body.length === 1 ? write(row, manages) : `,${write(row, manages)}`;
  return { total, body: `${body}]` };
}

const TOTAL = MAY_MANAGE + 1;

/**
 * The statement of a search. Its first two parameters are the client and the viewer.
 * @param distributed whether a Citus worker holds the payments
 */
export function searchStatement(view: PaymentView, search: PaymentSearch, distributed = false): SearchStatement {
  const parameters = new Parameters();
  const [client, viewer] = [parameters.add(view.clientId), `${parameters.add(view.viewer)}::text`];
  const { tables, page } = searchPlan(parameters, client, viewer, { ...search, distributed });
  const direction = search.descending ? ' desc' : '';
  const text = `with ${tables.map(([name, sql]) => `${name} as materialized (${sql})`).join(', ')}
select ${view.institution ? INSTITUTION_COLUMNS : PAYMENT_COLUMNS}, ${mayManage(client, viewer)}, t.total
from t left join (${page}) p on true ${paymentJoins(client, viewer)}
order by p.${search.orderBy}${direction}, p.id${direction}`;
  return { name: statementName(text, search.pageSize), text, values: parameters.values };
}
