import { isUuid } from '../../values/identifiers.ts';
import { mayApprove } from '../viewer-permissions.ts';
import type { PaymentSearch, StatusFilter } from './search-parameters.ts';
import { and, inDays, type Parameters, PHASES } from './search-statement.ts';
import type { Kept } from './totals.ts';

/** Columns in the form that their indexes use. */
export const INDEXED = {
  created: 'created',
  payment_date: 'payment_date',
  amount: 'amount',
  payment_currency: 'payment_currency',
};
/** The same columns as expressions that no index serves. They keep the planner on the index whose order is walked. */
export const UNINDEXED: typeof INDEXED = {
  created: "(created + interval '0')",
  payment_date: '(payment_date + 0)',
  amount: '(amount + 0)',
  payment_currency: "(payment_currency || '')",
};

const PHASES_OF: Record<StatusFilter, readonly number[]> = {
  pending: [PHASES.pendingAuthorisation, PHASES.inProgress],
  pending_to_authorise: [PHASES.pendingAuthorisation],
  authorised: [PHASES.inProgress],
  cancelled: [PHASES.cancelled],
  rejected: [PHASES.rejected],
  complete: [PHASES.complete],
  pending_your_approval: [PHASES.pendingAuthorisation],
  pending_others_approval: [PHASES.pendingAuthorisation],
};

/** The conditions of a search as SQL. Each call adds the parameters that its text uses. */
export class SearchConditions {
  readonly parameters: Parameters;
  readonly search: PaymentSearch;
  /** SQL parameters for the client and the viewer. */
  readonly client: string;
  readonly viewer: string;
  readonly phases: readonly number[] | undefined;
  /** An SQL parameter for each currency. */
  readonly currencies: string[] | undefined;

  constructor(parameters: Parameters, client: string, viewer: string, search: PaymentSearch) {
    this.parameters = parameters;
    this.search = search;
    this.client = client;
    this.viewer = viewer;
    this.phases = search.status && PHASES_OF[search.status];
    this.currencies = search.currencies?.map((currency) => parameters.add(currency));
  }

  /** The part of this search for which totals are kept. */
  get kept(): Kept {
    return { phases: this.phases, currencies: this.currencies, days: this.range };
  }

  /** The range of days. A walk has at most one. */
  get range(): Kept['days'] {
    const { created, paymentDate } = this.search;
    if (created) return { basis: 'created', range: created };
    return paymentDate && { basis: 'payment_date', range: paymentDate };
  }

  /**
   * A select of payments for each searched identifier; without identifiers, the select itself. Each identifier is a separate look-up. For a
   * list of unknown length, the planner would combine its index with one over all the client's payments.
   */
  eachIdentifier(select: string): string {
    const { paymentIds } = this.search;
    if (!paymentIds) return select;
    const wanted = `select distinct unnest(${this.parameters.add(paymentIds)}::text[]) as wanted_id`;
    return `select found.* from (${wanted}) w cross join lateral (${select} offset 0) found`;
  }

  /** All conditions, for a `where`. `eachIdentifier` handles the identifiers. */
  every(): string {
    const { parameters, search } = this;
    const conditions = [`client_id = ${this.client}`];
    if (search.paymentIds) conditions.push('payment_id = wanted_id');
    if (search.massPaymentId !== undefined) conditions.push(uuidCondition(parameters, search.massPaymentId));
    for (const [column, value] of [
      ['mass_payment_external_reference_id', search.massPaymentReference],
      ['reference', search.reference],
      ['trade_id', search.tradeId],
      ['beneficiary_id', search.beneficiaryId],
    ] as const) {
      if (value !== undefined) conditions.push(`${column} = ${parameters.add(value)}`);
    }
    // Written as a literal, so that the index of clients' orders serves it.
    if (search.source !== undefined) conditions.push(`source = '${search.source}'`);
    return conditions.join(' and ') + this.cells() + this.days() + this.amount() + this.approval();
  }

  /** The conditions on phase and currency. */
  cells(): string {
    const conditions: string[] = [];
    if (this.phases) conditions.push(`phase in (${this.phases.join(', ')})`);
    if (this.currencies) conditions.push(`payment_currency in (${this.currencies.join(', ')})`);
    return and(conditions);
  }

  days(names = INDEXED): string {
    const { created, paymentDate } = this.search;
    return (
      (created ? inDays(this.parameters, 'created', created, names.created) : '') +
      (paymentDate ? inDays(this.parameters, 'payment_date', paymentDate, names.payment_date) : '')
    );
  }

  amount(names = INDEXED): string {
    const { amount } = this.search;
    if (!amount) return '';
    const sign = { over: '>', below: '<', equal: '=' }[amount.range];
    return ` and ${names.amount} ${sign} ${this.parameters.add(amount.value)}::numeric`;
  }

  approval(): string {
    const { status } = this.search;
    if (status !== 'pending_your_approval' && status !== 'pending_others_approval') return '';
    // A scalar subquery and not a join. The page needs few rows, but for a join the planner would hash all rows of the contact.
    const own = `coalesce((select a.may_authorise from payment_approvers a where a.client_id = ${this.client}
      and a.contact_id = ${this.viewer} and a.payment_id = p.id and ${mayApprove(this.client, this.viewer)}), false)`;
    return status === 'pending_your_approval' ? ` and ${own}` : ` and not ${own}`;
  }
}

/** A text that is not a UUID matches no mass payment. */
function uuidCondition(parameters: Parameters, value: string): string {
  return isUuid(value) ? `mass_payment_id = ${parameters.add(value)}::uuid` : 'false';
}
