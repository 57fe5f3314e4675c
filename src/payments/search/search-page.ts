import { INDEXED, type SearchConditions } from './search-conditions.ts';
import { ALL_PHASES } from './search-statement.ts';

/** With more branches than this (phases times currencies), one index is walked and filtered instead of merging. */
const MAX_BRANCHES = 25;

/** The parts of a page's SQL: its rows, their order, and where it begins and ends. */
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

  /** The page size is written into the text: as a parameter it would be planned at each call. @param offset SQL, or null for none */
  limit(offset: string | null): string {
    return ` limit ${this.#conditions.search.pageSize}${offset === null ? '' : ` offset ${offset}`}`;
  }

  /** The whole rows of the page's ids: wide rows are fetched for the page only, each by its key (`offset 0`, as in `paymentJoins`). */
  wide(ids: string): string {
    const one = `select * from payments where client_id = ${this.#conditions.client} and id = k.id offset 0`;
    return `select p.* from (${ids}) k cross join lateral (${one}) p`;
  }

  /**
   * One index range for each phase and currency, merged in order; each ends as soon as the page is full. Each has its own order,
   * because otherwise the planner does not see that its index has the order, and sorts everything.
   * @param further conditions, each with ` and ` before it
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

  /** Begins (or, descending, ends) with the day or month of the table `seek`. @param step its length, an SQL interval */
  fromSoughtDay(step: string): string {
    const { orderBy, descending } = this.#conditions.search;
    const day: string = descending ? `day + ${step}` : 'day::timestamp';
    const bound = orderBy === 'created' ? `(${day}) at time zone 'Europe/London'` : `(${day})::date`;
    return ` and ${orderBy} ${descending ? '<' : '>='} (select ${bound} from seek)`;
  }
}
