import { mayApprove } from '../viewer-permissions.ts';
import { SearchConditions } from './search-conditions.ts';
import { SearchPage, walked } from './search-page.ts';
import type { PaymentSearch } from './search-parameters.ts';
import type { Parameters, SearchPlan, SearchTable } from './search-statement.ts';
import { keptApprovals, keptBeneficiaryTotal, keptTotal } from './totals.ts';

/** Filters that name something specific and mostly leave few payments. */
const NAMES = ['paymentIds', 'massPaymentId', 'massPaymentReference', 'reference', 'tradeId', 'beneficiaryId'] as const;
const NAMED_COLUMN = { reference: 'reference', tradeId: 'trade_id', beneficiaryId: 'beneficiary_id' } as const;

/**
 * Chooses the plan of a search. Each shape has its own SQL, so the plan does not depend on the planner's guesses about a client
 * (docs/search.md, Plans).
 * @param client,viewer SQL parameters
 */
export function searchPlan(parameters: Parameters, client: string, viewer: string, search: PaymentSearch): SearchPlan {
  const conditions = new SearchConditions(parameters, client, viewer, search);
  const { amount, created, paymentDate, status } = search;
  const names = NAMES.filter((name) => search[name] !== undefined);
  const { currencies, source } = search;
  const others = amount !== undefined || created || paymentDate || currencies || status || source;
  const [name] = names;
  if (name && names.length === 1 && !others && search.orderBy === 'created') {
    if (name === 'beneficiaryId' || name === 'tradeId' || name === 'reference') return named(conditions, name);
  }
  if (name || source || (created && paymentDate)) return collected(conditions);
  if (status === 'pending_your_approval' || status === 'pending_others_approval') {
    const alone = !amount && !created && !paymentDate && !search.currencies;
    if (!alone) return collected(conditions);
    return status === 'pending_your_approval' ? approvable(conditions) : awaitingOthers(conditions);
  }
  if (!amount) return walked(conditions);
  const alone = !created && !paymentDate && !search.currencies && !status;
  return alone && amount.range !== 'equal' ? walked(conditions) : collected(conditions);
}

/** A plan that finds, counts and sorts every match. For filters that leave few. */
function collected(conditions: SearchConditions): SearchPlan {
  const page = new SearchPage(conditions);
  const matches = `select id, ${conditions.search.orderBy} from payments p where ${conditions.every()}`;
  return {
    tables: [
      ['matches', conditions.eachIdentifier(matches)],
      ['t', 'select count(*) as total from matches'],
    ],
    page: page.wide(`select id from matches ${page.order}${page.limit(page.offset())}`),
  };
}

/**
 * A plan that walks the index of a name, which has its payments in order. The total of a beneficiary is kept; the few payments of a trade
 * or a reference are counted.
 */
function named(conditions: SearchConditions, name: keyof typeof NAMED_COLUMN): SearchPlan {
  const { client, parameters } = conditions;
  const { offset, [name]: value } = conditions.search;
  const page = new SearchPage(conditions);
  const wanted = parameters.add(value);
  const from = `from payments where client_id = ${client} and ${NAMED_COLUMN[name]} = ${wanted}`;
  const total = name === 'beneficiaryId' ? keptBeneficiaryTotal(client, wanted) : `(select count(*) ${from})`;
  const tables: SearchTable[] = [['t', `select ${total} as total`]];
  if (offset === 0) return { tables, page: `select * ${from} ${page.order}${page.limit(null)}` };
  const place = page.offset();
  const ids = `select id ${from} and (select total from t) > ${place} ${page.order}${page.limit(place)}`;
  return { tables, page: page.wide(ids) };
}

/** A plan for what the viewer may authorise now. An index has it in both orders. */
function approvable(conditions: SearchConditions): SearchPlan {
  const { client, viewer } = conditions;
  const page = new SearchPage(conditions);
  const rows = `select payment_id as id, ${conditions.search.orderBy} from ${approvableBy(client, viewer)}`;
  return {
    tables: [['t', `select (${keptApprovals(client, viewer)})::bigint as total`]],
    page: page.wide(`select id from (${rows}) a ${page.order}${page.limit(page.offset())}`),
  };
}

/** A plan for pending payments that the viewer may not authorise now (migrations/0006_approvals.sql, payments_awaiting_others_...). */
function awaitingOthers(conditions: SearchConditions): SearchPlan {
  const { client, kept, parameters, viewer } = conditions;
  const { descending, distributed, orderBy, pageSize } = conditions.search;
  const page = new SearchPage(conditions);
  const place = page.offset();
  const find = `payments_awaiting_others_${orderBy}${descending ? '_desc' : ''}`;
  // A function of a cell cannot read what exists once.
  const found = distributed
    ? `(select p.id from payments p where p.client_id = ${client} and p.phase = 1${conditions.approval()} ${page.order}${page.limit(place)}) k`
    : `${find}(${client}, ${viewer}, ${place}, ${pageSize}) id`;
  const ids = `select id from ${found} where (select total from t) > ${place}`;
  return {
    tables: [
      ['t', `select (${keptTotal(parameters, client, kept)} - ${keptApprovals(client, viewer)})::bigint as total`],
    ],
    page: page.wide(ids),
  };
}

function approvableBy(client: string, viewer: string): string {
  return `payment_approvers where client_id = ${client} and contact_id = ${viewer} and may_authorise and ${mayApprove(client, viewer)}`;
}
