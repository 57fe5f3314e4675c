import { type SearchConditions, UNINDEXED } from './search-conditions.ts';
import { SearchPage } from './search-page.ts';
import type { SearchPlan, SearchTable } from './search-statement.ts';
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
  const { range } = conditions;
  if (amount || (range && range.basis !== orderBy)) return walkedOrCollected(conditions, page, tables);
  if (offset === 0) {
    return { tables, page: `select * from (${page.branches('*')}) k ${page.order}${page.limit(null)}` };
  }
  const place = page.offset();
  if (!seeks(conditions)) {
    const rows = page.branches(`id, ${orderBy}`, ` and (select total from t) > ${place}`);
    return { tables, page: page.wide(`select id from (${rows}) k ${page.order}${page.limit(place)}`) };
  }
  tables.push(...seekTables(conditions, place));
  const rows = page.branches(`id, ${orderBy}`, page.fromSoughtDay(inCells(conditions) ? MONTH : DAY));
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
  const matches = `select id, ${orderBy} from payments where ${conditions.every()}`;
  tables.push(['matches', `${matches} and (select total from t) <= ${MAX_COLLECTED_ROWS}${inside}`]);
  const range = conditions.range?.range;
  if (range) {
    const first = firstDay(conditions, range);
    tables.push(['seek', `select case when (select total from t) > ${MAX_COLLECTED_ROWS} then ${first} end as day`]);
  }
  const begin = range ? page.fromSoughtDay(DAY) : '';
  const many = ` and (select total from t) > ${MAX_COLLECTED_ROWS}${inside}${begin}`;
  const walk = page.branches(`id, ${orderBy}`, many, UNINDEXED);
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
