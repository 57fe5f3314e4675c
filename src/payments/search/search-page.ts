import { INDEXED, type SearchConditions, UNINDEXED } from './search-conditions.ts';
import type { DayRange } from './search-parameters.ts';
import { ALL_PHASES, and, type SearchPlan, type SearchTable } from './search-statement.ts';
import { cellConditions, DELTA_DAY, dayConditions, GRAIN, keptAmountTotal, keptTotal } from './totals.ts';

/** With more branches (phases times currencies) than this, one index is walked and filtered instead of merging branches. */
const MAX_BRANCHES = 25;

/** Builds the parts of a page's SQL: its rows, their order, and where it begins and ends. */
export class SearchPage {
  readonly #conditions: SearchConditions;
  readonly order: string;

  constructor(conditions: SearchConditions) {
    this.#conditions = conditions;
    const { orderBy, descending } = conditions.search;
    const direction = descending ? ' desc' : '';
    this.order = `order by ${orderBy}${direction}, id${direction}`;
  }

  /** Adds the number of payments before the page as a parameter. */
  offset(): string {
    return `${this.#conditions.parameters.add(this.#conditions.search.offset)}::bigint`;
  }

  /**
   * The limit of the page. The page size is part of the text, because a parameter would be planned at each call.
   * @param offset SQL, or null for none
   */
  limit(offset: string | null): string {
    return ` limit ${this.#conditions.search.pageSize}${offset === null ? '' : ` offset ${offset}`}`;
  }

  /** The whole rows of the page's ids. Wide rows are read only for the page, each by its key (`offset 0`, as in `paymentJoins`). */
  wide(ids: string): string {
    const one = `select * from payments where client_id = ${this.#conditions.client} and id = k.id offset 0`;
    return `select p.* from (${ids}) k cross join lateral (${one}) p`;
  }

  /**
   * One index range for each phase and currency, merged in order. Each ends as soon as the page is full. Each has its own `order by`;
   * otherwise the planner does not see that its index has the order, and sorts everything.
   * @param further conditions, each preceded by ` and `
   */
  branches(columns: string, further = '', names = INDEXED): string {
    const { client, currencies, phases: only, search } = this.#conditions;
    const byCurrency = currencies !== undefined && search.orderBy === 'created';
    const phases = only ?? (currencies ? ALL_PHASES : [undefined]);
    const from = `select ${columns} from payments p where client_id = ${client}`;
    const conditions = this.#conditions;
    const rest = conditions.days(names) + conditions.amount(names) + conditions.approval() + further;
    const cells = phases.flatMap((phase) => {
      const ofPhase = phase === undefined ? '' : ` and phase = ${phase}`;
      if (byCurrency) return currencies.map((currency) => ` and payment_currency = ${currency}${ofPhase}`);
      return [ofPhase + (currencies ? ` and ${names.payment_currency} in (${currencies.join(', ')})` : '')];
    });
    if (cells.length === 1) return `${from}${cells[0]}${rest}`;
    if (cells.length > MAX_BRANCHES) return `${from}${conditions.cells()}${rest}`;
    return cells.map((cell) => `(${from}${cell}${rest} ${this.order})`).join(' union all ');
  }

  /** Starts the walk (or ends it, if descending) at the day or month of the table `seek`. @param step its length, an SQL interval */
  fromSoughtDay(step: string): string {
    const { orderBy, descending } = this.#conditions.search;
    const day: string = descending ? `day + ${step}` : 'day::timestamp';
    const bound = orderBy === 'created' ? `(${day}) at time zone 'Europe/London'` : `(${day})::date`;
    return ` and ${orderBy} ${descending ? '<' : '>='} (select ${bound} from seek)`;
  }
}

/** Where a table searches: conditions on the totals of a grain and on the deltas, each preceded by ` and `. */
interface Seek {
  grain: number;
  totals: string;
  /** SQL for the day of a delta. */
  day: string;
  deltas: string;
  /** SQL for the number of payments before the first day. */
  before?: string;
}

/**
 * Tables that find the day (or, for phases and currencies, the month) in which a page begins. So a deep page need not walk past everything
 * before it. The last one, `seek (day, before)`, has one row, or none if the page is after the last payment. `before` is the number of
 * payments before that day. Without a range of days the month is found first, because a client has few months and many days.
 * @param offset the SQL parameter of the number of payments before the page
 */
function seekTables(
  { parameters, client, kept, search: { orderBy: basis, descending } }: SearchConditions,
  offset: string,
): SearchTable[] {
  const cells = cellConditions(kept);
  const range = kept.days?.range ?? { from: undefined, to: undefined };
  const deltaDay = DELTA_DAY[basis];
  const all = " and phase = 0 and payment_currency = ''";
  const find = ({ grain, totals, day, deltas, before = '0' }: Seek) => `select day, before from (
      select day, n, ${before} + sum(n) over (order by day${descending ? ' desc' : ''}) - n as before from (
        select day, sum(n)::bigint as n from (
          select day, n from payment_totals where client_id = ${client} and grain = ${grain}${totals}
          union all
          select ${day}, n from payment_total_deltas where client_id = ${client}${deltas}
        ) as counted group by day
      ) as days
    ) as running where before <= ${offset} and before + n > ${offset} limit 1`;
  const month = `date_trunc('month', ${deltaDay}::timestamp)::date`;
  const [ofMonth, ofDay] = [GRAIN.month[basis], GRAIN.day[basis]];
  if (cells !== '') return [['seek', find({ grain: ofMonth, totals: cells, day: month, deltas: cells })]];
  if (kept.days) {
    const totals = all + dayConditions(parameters, 'day', range);
    const deltas = dayConditions(parameters, deltaDay, range);
    return [['seek', find({ grain: ofDay, totals, day: deltaDay, deltas })]];
  }
  const inMonth = (day: string) =>
    ` and ${day} >= (select day from sought) and ${day} < (select day + interval '1 month' from sought)::date`;
  const totals = all + inMonth('day');
  const before = '(select before from sought)';
  return [
    ['sought', find({ grain: ofMonth, totals: all, day: month, deltas: '' })],
    ['seek', find({ grain: ofDay, totals, day: deltaDay, deltas: inMonth(deltaDay), before })],
  ];
}

/**
 * SQL for the first day in the order (the last day, if descending) on which a payment within a range of the other date can be. It is a
 * date, or null if there is none. No payment of the range is before it, but the day itself may have none.
 * @param range of the date that the search does not order by
 */
function firstDay(
  { parameters, client, search: { orderBy: basis, descending } }: SearchConditions,
  range: DayRange,
): string {
  const other = basis === 'created' ? 'payment_date' : 'created';
  const edge = descending ? 'max' : 'min';
  const { from, to } = range;
  const touches = and([
    ...(from === undefined ? [] : [`high >= ${parameters.add(from)}::date`]),
    ...(to === undefined ? [] : [`low <= ${parameters.add(to)}::date`]),
  ]);
  const totals = (grain: number, further: string) => `(select ${edge}(day) from payment_totals
    where client_id = ${client} and grain = ${grain} and phase = 0 and payment_currency = ''${touches}${further})`;
  const month = totals(GRAIN.month[basis], '');
  const day = totals(
    GRAIN.day[basis],
    descending ? ` and day < ${month} + interval '1 month'` : ` and day >= ${month}`,
  );
  const delta = `(select ${edge}(${DELTA_DAY[basis]}) from payment_total_deltas
    where client_id = ${client}${dayConditions(parameters, DELTA_DAY[other], range)})`;
  return `${descending ? 'greatest' : 'least'}(${day}, ${delta})`;
}

/** From this offset on, the totals are used to find where the page begins. */
const MIN_SEEK_OFFSET_ROWS = 1_000;
/** Up to this many matches are collected and sorted. More are walked in the order of the page. */
const MAX_COLLECTED_ROWS = 2_000;
const DAY = "interval '1 day'";
const MONTH = "interval '1 month'";

/** A plan that walks an index in the order of the page until the page is full. The total is a kept one. */
export function walked(conditions: SearchConditions): SearchPlan {
  const { amount, orderBy, offset } = conditions.search;
  const tables: SearchTable[] = [['t', `select (${totalOf(conditions)})::bigint as total`]];
  const page = new SearchPage(conditions);
  const { currencies, range } = conditions;
  // Only the index by creation begins with a currency.
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

/** Whether the totals show where the page begins. */
function seeks(conditions: SearchConditions): boolean {
  if (conditions.search.offset < MIN_SEEK_OFFSET_ROWS) return false;
  return !conditions.range || !inCells(conditions);
}

function inCells({ phases, currencies }: SearchConditions): boolean {
  return phases !== undefined || currencies !== undefined;
}

/**
 * A plan for a filter and an order with different indexes. Few matches are collected through the filter's index and sorted. Many matches
 * are found quickly in the index of the order. The total, which is determined first, decides; the other branch never starts.
 */
function walkedOrCollected(conditions: SearchConditions, page: SearchPage, tables: SearchTable[]): SearchPlan {
  const { orderBy, offset } = conditions.search;
  const place = offset === 0 ? null : page.offset();
  const inside = place === null ? '' : ` and (select total from t) > ${place}`;
  // The index by currency has the phase before the date. `ctid` is in no index, so an index that has all other columns is not read whole.
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
