import { isUuid } from '../uuid.ts';
import type { PaymentSearch } from './search-parameters.ts';
import { ALL_PHASES, and, inDays, type Parameters, PHASES } from './search-statement.ts';
import {
  firstDay,
  type Kept,
  keptAmountTotal,
  keptApprovals,
  keptBeneficiaryTotal,
  keptTotal,
  seekTables,
} from './totals.ts';

/**
 * How a search is answered: a statement's tables, among them `t (total)`, and its page, rows of payments. Written out for each
 * shape, so that the plan does not depend on the planner's guesses about a client (docs/search.md, Plans).
 */
export interface SearchPlan {
  tables: [name: string, sql: string][];
  page: string;
}

/** From this many payments before the page on, the page is looked for in the totals. */
const SEEK_FROM = 1_000;
/** More branches than this (phases times currencies) are not merged; one index is walked and filtered. */
const MAX_BRANCHES = 25;
/** Up to this many matches are collected and sorted, more are looked for in the order of the page. */
const MAX_COLLECTED = 2_000;

const INDEXED = { created: 'created', payment_date: 'payment_date', amount: 'amount' };
/** The same for a walk in the order of another index, which the planner must not leave for the filter's own. */
const UNINDEXED: typeof INDEXED = {
  created: "(created + interval '0')",
  payment_date: '(payment_date + 0)',
  amount: '(amount + 0)',
};

const PHASES_OF = {
  pending: [PHASES.pendingAuthorisation, PHASES.inProgress],
  pending_to_authorise: [PHASES.pendingAuthorisation],
  authorised: [PHASES.inProgress],
  cancelled: [PHASES.cancelled],
  rejected: [PHASES.rejected],
  complete: [PHASES.complete],
  pending_your_approval: [PHASES.pendingAuthorisation],
  pending_others_approval: [PHASES.pendingAuthorisation],
} as const;

/** Chooses how a search is answered. */
export function searchPlan(parameters: Parameters, client: string, viewer: string, search: PaymentSearch): SearchPlan {
  const shape = new Shape(parameters, client, viewer, search);
  const { amount, created, paymentDate, status } = search;
  const names = NAMES.filter((name) => search[name] !== undefined);
  const others = amount !== undefined || created || paymentDate || search.currencies || status;
  const [name] = names;
  if (name && names.length === 1 && !others && search.orderBy === 'created') {
    if (name === 'beneficiaryId' || name === 'tradeId' || name === 'reference') return shape.named(name);
  }
  if (name || (created && paymentDate)) return shape.collected();
  if (status === 'pending_your_approval' || status === 'pending_others_approval') {
    const alone = !amount && !created && !paymentDate && !search.currencies;
    if (!alone) return shape.collected();
    return status === 'pending_your_approval' ? shape.approvable() : shape.walked();
  }
  if (!amount) return shape.walked();
  const alone = !created && !paymentDate && !search.currencies && !status;
  return alone && amount.range !== 'equal' ? shape.walked() : shape.collected();
}

/** Filters that name what is wanted and mostly leave few payments. */
const NAMES = ['paymentIds', 'massPaymentId', 'massPaymentReference', 'reference', 'tradeId', 'beneficiaryId'] as const;
const NAMED_COLUMN = { reference: 'reference', tradeId: 'trade_id', beneficiaryId: 'beneficiary_id' } as const;

class Shape {
  readonly #parameters: Parameters;
  readonly #client: string;
  readonly #viewer: string;
  readonly #search: PaymentSearch;
  readonly #phases: readonly number[] | undefined;
  readonly #currencies: string[] | undefined;
  readonly #order: string;

  constructor(parameters: Parameters, client: string, viewer: string, search: PaymentSearch) {
    this.#parameters = parameters;
    this.#client = client;
    this.#viewer = viewer;
    this.#search = search;
    this.#phases = search.status && PHASES_OF[search.status];
    this.#currencies = search.currencies?.map((currency) => parameters.add(currency));
    const direction = search.descending ? ' desc' : '';
    this.#order = `order by ${search.orderBy}${direction}, id${direction}`;
  }

  /** Every match is found, counted, sorted: for filters that leave few. */
  collected(): SearchPlan {
    const { orderBy } = this.#search;
    const matches = `select id, ${orderBy} from payments p where ${this.#everyCondition()}`;
    return {
      tables: [
        ['matches', matches],
        ['t', 'select count(*) as total from matches'],
      ],
      page: this.#wide(`select id from matches ${this.#order}${this.#limit(this.#offset())}`),
    };
  }

  /** An index has the payments of the name in order; a beneficiary's total is kept, a trade's or a reference's few are counted. */
  named(name: keyof typeof NAMED_COLUMN): SearchPlan {
    const { offset, [name]: value } = this.#search;
    const column = NAMED_COLUMN[name];
    const input = this.#parameters.add(value);
    const from = `from payments where client_id = ${this.#client} and ${column} = ${input}`;
    const total = name === 'beneficiaryId' ? keptBeneficiaryTotal(this.#client, input) : `(select count(*) ${from})`;
    const tables: SearchPlan['tables'] = [['t', `select ${total} as total`]];
    if (offset === 0) return { tables, page: `select * ${from} ${this.#order}${this.#limit(null)}` };
    const place = this.#offset();
    return {
      tables,
      page: this.#wide(`select id ${from} and (select total from t) > ${place} ${this.#order}${this.#limit(place)}`),
    };
  }

  /** What the viewer may authorise now: an index of its own has it in both orders. */
  approvable(): SearchPlan {
    const { orderBy } = this.#search;
    const own = `payment_approvers where client_id = ${this.#client} and contact_id = ${this.#viewer} and may_authorise`;
    const rows = `select payment_id as id, ${orderBy} from ${own}`;
    return {
      tables: [['t', `select (${keptApprovals(this.#client, this.#viewer)})::bigint as total`]],
      page: this.#wide(`select id from (${rows}) a ${this.#order}${this.#limit(this.#offset())}`),
    };
  }

  /** The total is kept; an index is walked in the order of the page until the page is full. */
  walked(): SearchPlan {
    const { amount, orderBy, offset } = this.#search;
    const tables: SearchPlan['tables'] = [['t', `select (${this.#total()})::bigint as total`]];
    const days = this.#days();
    if (amount || (days && days.basis !== orderBy)) return this.#walkedOrCollected(tables);
    if (offset === 0)
      return { tables, page: `select * from (${this.#branches('*')}) k ${this.#order}${this.#limit(null)}` };
    const place = this.#offset();
    const seeks =
      offset >= SEEK_FROM &&
      this.#search.status !== 'pending_others_approval' &&
      (!days || (!this.#phases && !this.#currencies));
    if (!seeks) {
      const page = `select id from (${this.#branches(`id, ${orderBy}`, ` and (select total from t) > ${place}`)}) k ${this.#order}${this.#limit(place)}`;
      return { tables, page: this.#wide(page) };
    }
    const step = this.#phases || this.#currencies ? "interval '1 month'" : "interval '1 day'";
    tables.push(...seekTables(this.#parameters, this.#client, this.#kept(), orderBy, this.#search.descending, place));
    const branches = this.#branches(`id, ${orderBy}`, this.#fromSoughtDay(step));
    const limit = this.#limit(`(select ${place} - before from seek)`);
    const page = `select id from (${branches}) k ${this.#order}${limit}`;
    return { tables, page: this.#wide(page) };
  }

  /**
   * The filter and the order have different indexes: few matches are collected through the filter's and sorted, many are found soon
   * in the order's. The total, known first, says which; the other branch is never started.
   */
  #walkedOrCollected(tables: SearchPlan['tables']): SearchPlan {
    const { orderBy } = this.#search;
    const place = this.#search.offset === 0 ? null : this.#offset();
    const inside = place === null ? '' : ` and (select total from t) > ${place}`;
    const matches = `select id, ${orderBy} from payments where ${this.#everyCondition()}`;
    tables.push(['matches', `${matches} and (select total from t) <= ${MAX_COLLECTED}${inside}`]);
    const range = this.#days()?.range;
    if (range) {
      const first = firstDay(this.#parameters, this.#client, orderBy, this.#search.descending, range);
      tables.push(['seek', `select case when (select total from t) > ${MAX_COLLECTED} then ${first} end as day`]);
    }
    const begin = range ? this.#fromSoughtDay("interval '1 day'") : '';
    const walk = this.#branches(
      `id, ${orderBy}`,
      ` and (select total from t) > ${MAX_COLLECTED}${inside}${begin}`,
      UNINDEXED,
    );
    const page = `select id, ${orderBy} from (${walk}) w ${this.#order}${this.#limit(place)}`;
    const sorted = `select id, ${orderBy} from matches ${this.#order}${this.#limit(place)}`;
    return { tables, page: this.#wide(`(${page}) union all (${sorted})`) };
  }

  #total(): string {
    const { amount, status } = this.#search;
    if (amount && amount.range !== 'equal')
      return keptAmountTotal(this.#parameters, this.#client, amount.range, amount.value);
    const total = keptTotal(this.#parameters, this.#client, this.#kept());
    if (status !== 'pending_others_approval') return total;
    return `${total} - ${keptApprovals(this.#client, this.#viewer)}`;
  }

  #kept(): Kept {
    return { phases: this.#phases, currencies: this.#currencies, days: this.#days() };
  }

  #days(): Kept['days'] {
    const { created, paymentDate } = this.#search;
    if (created) return { basis: 'created', range: created };
    return paymentDate && { basis: 'payment_date', range: paymentDate };
  }

  /**
   * One index range for each phase and currency, merged in order; each ends as soon as the page is full. Each is ordered by itself:
   * without that the planner does not see that its index has the order, and sorts everything.
   */
  #branches(columns: string, further = '', names = INDEXED): string {
    const currencies = this.#currencies;
    const byCurrency = currencies !== undefined && this.#search.orderBy === 'created';
    const phases = this.#phases ?? (byCurrency ? ALL_PHASES : [undefined]);
    const from = `select ${columns} from payments p where client_id = ${this.#client}`;
    const rest = this.#dayConditions(names) + this.#amountCondition(names) + this.#approvalCondition() + further;
    const cells = phases.flatMap((phase) => {
      const ofPhase = phase === undefined ? '' : ` and phase = ${phase}`;
      if (byCurrency) return currencies.map((currency) => ` and payment_currency = ${currency}${ofPhase}`);
      return [ofPhase + (currencies ? ` and payment_currency in (${currencies.join(', ')})` : '')];
    });
    if (cells.length === 1) return `${from}${cells[0]}${rest}`;
    if (cells.length > MAX_BRANCHES) return `${from}${this.#cellConditions()}${rest}`;
    return cells.map((cell) => `(${from}${cell}${rest} ${this.#order})`).join(' union all ');
  }

  #cellConditions(): string {
    const conditions: string[] = [];
    if (this.#phases) conditions.push(`phase in (${this.#phases.join(', ')})`);
    if (this.#currencies) conditions.push(`payment_currency in (${this.#currencies.join(', ')})`);
    return and(conditions);
  }

  #everyCondition(): string {
    const parameters = this.#parameters;
    const search = this.#search;
    const conditions = [`client_id = ${this.#client}`];
    if (search.paymentIds) conditions.push(`payment_id = any (${parameters.add(search.paymentIds)}::text[])`);
    if (search.massPaymentId !== undefined) conditions.push(uuidCondition(parameters, search.massPaymentId));
    for (const [column, value] of [
      ['mass_payment_external_reference_id', search.massPaymentReference],
      ['reference', search.reference],
      ['trade_id', search.tradeId],
      ['beneficiary_id', search.beneficiaryId],
    ] as const) {
      if (value !== undefined) conditions.push(`${column} = ${parameters.add(value)}`);
    }
    return (
      conditions.join(' and ') +
      this.#cellConditions() +
      this.#dayConditions() +
      this.#amountCondition() +
      this.#approvalCondition()
    );
  }

  #dayConditions(names = INDEXED): string {
    const { created, paymentDate } = this.#search;
    const parameters = this.#parameters;
    return (
      (created ? inDays(parameters, 'created', created, names.created) : '') +
      (paymentDate ? inDays(parameters, 'payment_date', paymentDate, names.payment_date) : '')
    );
  }

  #amountCondition(names = INDEXED): string {
    const { amount } = this.#search;
    if (!amount) return '';
    const sign = { over: '>', below: '<', equal: '=' }[amount.range];
    return ` and ${names.amount} ${sign} ${this.#parameters.add(amount.value)}::numeric`;
  }

  #approvalCondition(): string {
    const { status } = this.#search;
    if (status !== 'pending_your_approval' && status !== 'pending_others_approval') return '';
    // A scalar subquery, never a join: the page needs few rows, and the planner would hash all of the contact's.
    const own = `coalesce((select a.may_authorise from payment_approvers a
      where a.client_id = ${this.#client} and a.contact_id = ${this.#viewer} and a.payment_id = p.id), false)`;
    return status === 'pending_your_approval' ? ` and ${own}` : ` and not ${own}`;
  }

  /** Begins (or, descending, ends) with the day or month of `seek`, which is a step long. */
  #fromSoughtDay(step: string): string {
    const { orderBy, descending } = this.#search;
    const day: string = descending ? `day + ${step}` : 'day::timestamp';
    const bound = orderBy === 'created' ? `(${day}) at time zone 'Europe/London'` : `(${day})::date`;
    return ` and ${orderBy} ${descending ? '<' : '>='} (select ${bound} from seek)`;
  }

  #offset(): string {
    return `${this.#parameters.add(this.#search.offset)}::bigint`;
  }

  /** The page size stands in the text: as a parameter it would be planned anew at each call. */
  #limit(offset: string | null): string {
    return ` limit ${this.#search.pageSize}${offset === null ? '' : ` offset ${offset}`}`;
  }

  /** The rows of the page's ids: wide rows are fetched for the page only. */
  #wide(ids: string): string {
    return `select p.* from (${ids}) k join payments p on p.id = k.id and p.client_id = ${this.#client}`;
  }
}

/** A text that is no uuid belongs to no mass payment. */
function uuidCondition(parameters: Parameters, value: string): string {
  return isUuid(value) ? `mass_payment_id = ${parameters.add(value)}::uuid` : 'false';
}
