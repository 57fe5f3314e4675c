import { INDEXED, type SearchConditions, UNINDEXED } from './search-conditions.ts';
import { SearchPage } from './search-page.ts';
import { ALL_PHASES, type SearchPlan, type SearchTable } from './search-statement.ts';
import { firstDay, seekTables } from './seek.ts';
import { keptAmountTotal, keptTotal } from './totals.ts';

/** From this offset on, the beginning of the page is looked up in the totals. */
const MIN_SEEK_OFFSET_ROWS = 1_000;
/** Up to this many matches are collected and sorted; more are walked in the order of the page. */
const MAX_COLLECTED_ROWS = 2_000;
const DAY = "interval '1 day'";
const MONTH = "interval '1 month'";

/** The total is kept; an index is walked in the order of the page until the page is full. */
export function walked(conditions: SearchConditions): SearchPlan {
  const { amount, orderBy, offset } = conditions.search;
  const tables: SearchTable[] = [['t', `select (${totalOf(conditions)})::bigint as total`]];
  const page = new SearchPage(conditions);
  const { currencies, range } = conditions;
  // Only the index of the creation begins with a currency.
  const isElsewhere = currencies !== undefined && orderBy === 'payment_date';
  if (amount || (isElsewhere && !seeks(conditions)) || (range && range.basis !== orderBy))
    return walkedOrCollected(conditions, page, tables);
  if (offset === 0) {
    return { tables, page: `select * from (${page.branches('*')}) k ${page.order}${page.limit(null)}` };
  }
  const place = page.offset();
  if (!seeks(conditions)) {
    const rows = page.branches(`id, ${orderBy}`, ` and (select total from t) > ${place}`);
    return { tables, page: page.wide(`select id from (${rows}) k ${page.order}${page.limit(place)}`) };
  }
  tables.push(...seekTables(conditions, place));
  const names = isElsewhere ? { ...INDEXED, payment_currency: UNINDEXED.payment_currency } : INDEXED;
  const rows = page.branches(`id, ${orderBy}`, page.fromSoughtDay(inCells(conditions) ? MONTH : DAY), names);
  const limit = page.limit(`(select ${place} - before from seek)`);
  return { tables, page: page.wide(`select id from (${rows}) k ${page.order}${limit}`) };
}

/** Whether the totals tell where the page begins. */
function seeks(conditions: SearchConditions): boolean {
  if (conditions.search.offset < MIN_SEEK_OFFSET_ROWS) return false;
  return !conditions.range || !inCells(conditions);
}

function inCells({ phases, currencies }: SearchConditions): boolean {
  return phases !== undefined || currencies !== undefined;
}

/**
 * The filter and the order have different indexes. Few matches are collected through the filter's index and sorted; many are found
 * soon in the order's. The total, known first, says which; the other branch is never started.
 */
function walkedOrCollected(conditions: SearchConditions, page: SearchPage, tables: SearchTable[]): SearchPlan {
  const { orderBy, offset } = conditions.search;
  const place = offset === 0 ? null : page.offset();
  const inside = place === null ? '' : ` and (select total from t) > ${place}`;
  // The index by currency has the phase in front of the date. `ctid` is in no index: one that has all else would be read whole.
  const { phases = ALL_PHASES, currencies } = conditions;
  const [row, cells] = currencies ? [', ctid', ` and phase in (${phases.join(', ')})`] : ['', ''];
  const matches = `select id, ${orderBy}${row} from payments where ${conditions.every()}${cells}`;
  tables.push(['matches', `${matches} and (select total from t) <= ${MAX_COLLECTED_ROWS}${inside}`]);
  const { range } = conditions;
  const isOther = range !== undefined && range.basis !== orderBy;
  if (isOther) {
    const first = firstDay(conditions, range.range);
    tables.push(['seek', `select case when (select total from t) > ${MAX_COLLECTED_ROWS} then ${first} end as day`]);
  }
  const begin = isOther ? page.fromSoughtDay(DAY) : '';
  const many = ` and (select total from t) > ${MAX_COLLECTED_ROWS}${inside}${begin}`;
  const walk = page.branches(`id, ${orderBy}`, many, { ...UNINDEXED, [orderBy]: INDEXED[orderBy] });
  const walkedPage = `select id, ${orderBy} from (${walk}) w ${page.order}${page.limit(place)}`;
  const sortedPage = `select id, ${orderBy} from matches ${page.order}${page.limit(place)}`;
  return { tables, page: page.wide(`(${walkedPage}) union all (${sortedPage})`) };
}

function totalOf(conditions: SearchConditions): string {
  const { parameters, client, search } = conditions;
  const { amount } = search;
  if (amount && amount.range !== 'equal')
    return keptAmountTotal(parameters, client, { range: amount.range, value: amount.value });
  return keptTotal(parameters, client, conditions.kept);
}
