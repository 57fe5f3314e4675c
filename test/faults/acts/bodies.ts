import type { Caller } from '../caller.ts';
import { ORDERED_CURRENCY } from '../party.ts';

/** What people order. */

const MAX_AMOUNT = 40;
const MAX_PAYMENTS = 3;
export const IBAN = 'DE89370400440532013000';
const MAX_ROWS = 6;
const MAX_ROW_AMOUNT = 15;
/** Share of rows that cannot be done, and of those whose payee is new. */
const BAD = 0.06;
const NEW = 0.2;
export const NEW_PAYEE = { country: 'DE', currency: 'EUR' };

const BUYING = { direction: 'buy', trade_type: 'spot' };

/** A row whose payee is new and whose currency is bought. */
export function newPayeeRow({ ledger, random }: Caller) {
  const { country, currency } = NEW_PAYEE;
  return {
    ...{ ...BUYING, payment_amount: random.whole(1, MAX_ROW_AMOUNT), payment_reference: ledger.mark() },
    ...{ payment_currency: currency, beneficiary_name: ledger.mark(), iban: IBAN },
    ...{ beneficiary_country: country, bank_country: country },
  };
}

/** Instructions in the account's currency and in a bought one, to known payees and to new ones. */
export function rowsOf(at: Caller, bad = BAD) {
  const { party, random, ledger } = at;
  const known = () =>
    random.pick([
      { payment_currency: ORDERED_CURRENCY, beneficiary_id: party.orders.beneficiaryId },
      { payment_currency: NEW_PAYEE.currency, beneficiary_id: party.base.beneficiary_id },
    ]);
  return Array.from({ length: random.whole(1, MAX_ROWS) }, () => ({
    ...(random.next() < NEW
      ? newPayeeRow(at)
      : { ...BUYING, payment_amount: random.whole(1, MAX_ROW_AMOUNT), payment_reference: ledger.mark(), ...known() }),
    ...(random.next() < bad && { beneficiary_id: 'BEN-nobody' }),
  }));
}

/** Paid from the account, and what it takes to buy from there. */
export const fundedBy = ({ party }: Caller) => ({
  ...{ sell_currency: ORDERED_CURRENCY, funding_account_id: party.orders.accountId, reason: 'other' },
});

/** A file of payments. Most go on by themselves. */
export function fileOf(at: Caller) {
  const auto_commit = at.random.next() < 0.8;
  return { ...fundedBy(at), external_reference_id: at.ledger.mark(), auto_commit, payment_instructions: rowsOf(at) };
}

const WEEK_MS = 7 * 86_400_000;

/** A payment date that an order may name. */
export function inAWeek(): string {
  return new Date(Date.now() + WEEK_MS).toISOString().slice(0, 10);
}

/** Payments from the account, which covers some of them. */
export function orderOf({ party, random, ledger }: Caller) {
  const { accountId: funding_account_id, beneficiaryId: beneficiary_id } = party.orders;
  const payments = Array.from({ length: random.whole(1, MAX_PAYMENTS) }, () => ({
    ...{ beneficiary_id, payment_date: inAWeek() },
    ...{ amount: random.whole(1, MAX_AMOUNT), reference: ledger.mark() },
  }));
  return { funding_account_id, reason: 'other', payments };
}
