import { type CurrencyAccount, openCurrencyAccount } from '../accounts/currency-account.ts';
import type { Act } from '../audit/act.ts';
import { createBeneficiary } from '../beneficiaries/beneficiary.ts';
import type { Beneficiary, BeneficiaryInput } from '../beneficiaries/declaration.ts';
import { first, type Transaction } from '../database/database.ts';
import { createTrade } from '../exchange/trade-booking.ts';
import { londonDay } from '../values/calendar.ts';

/** The records that a trial refers to: the client's newest trade, beneficiary and currency account. A missing one is created. */

/** The trade that funds a trial. Its amounts are small and round, so that it is recognised. */
const TRADE = { buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: '1000.00', rate: '1.1710' };
/** An example of the IBAN registry, so that no payment of a trial could ever reach anybody. */
const BENEFICIARY = {
  beneficiary_name: 'Müller Werkzeuge GmbH',
  country_code: 'DE',
  bank_country_code: 'DE',
  iban: 'DE89370400440532013000',
  swift_code: 'COBADEFFXXX',
  currency: 'EUR',
};

/** The client of a trial, and the contact who asks for it. */
export interface Owner {
  clientId: string;
  contactId: string;
}

/** Books a trade for a trial and notifies it. @returns its identifier */
export async function bookTrade(tx: Transaction, act: Act, apiUrl: string, owner: Owner): Promise<string> {
  const { trade_id: id } = await createTrade(tx, act, apiUrl, {
    ...TRADE,
    client_id: owner.clientId,
    contact_id: owner.contactId,
    maturity_date: londonDay(act.now),
    reference: 'Sandbox',
  });
  return id;
}

/** The client's newest trade that can still fund a payment. */
export async function newestTrade(tx: Transaction, act: Act, apiUrl: string, owner: Owner): Promise<string> {
  const known = first(
    await tx.query<{ trade_id: string }>(
      `select trade_id from trades where client_id = $1 and not single and status not in ('Closed', 'Cancelled', 'Rejected')
       order by created_at desc, trade_id desc limit 1`,
      [owner.clientId],
    ),
  );
  return known?.trade_id ?? bookTrade(tx, act, apiUrl, owner);
}

/** The client's newest beneficiary that can be paid, with its currency if known. */
export async function newestBeneficiary(
  tx: Transaction,
  act: Act,
  clientId: string,
): Promise<{ beneficiary_id: string; currency: string | null }> {
  const known = first(
    await tx.query<{ beneficiary_id: string; currency: string | null }>(
      `select beneficiary_id, currency from beneficiaries where client_id = $1 and active and not blocked
       order by created_at desc, beneficiary_id desc limit 1`,
      [clientId],
    ),
  );
  return known ?? makeBeneficiary(tx, act, clientId);
}

/** Makes a beneficiary for a trial. */
export function makeBeneficiary(
  tx: Transaction,
  act: Act,
  clientId: string,
  more: Partial<BeneficiaryInput> = {},
): Promise<Beneficiary> {
  return createBeneficiary(tx, act, { ...BENEFICIARY, ...more, client_id: clientId });
}

/** The currency of a client's beneficiary, if known. */
export async function currencyOf(tx: Transaction, clientId: string, beneficiaryId: string): Promise<string | null> {
  const beneficiary = first(
    await tx.query<{ currency: string | null }>(
      'select currency from beneficiaries where client_id = $1 and beneficiary_id = $2',
      [clientId, beneficiaryId],
    ),
  );
  return beneficiary?.currency ?? null;
}

/** The client's newest currency account. */
export async function newestCurrencyAccount(tx: Transaction, act: Act, clientId: string): Promise<CurrencyAccount> {
  const known = first(
    await tx.query<CurrencyAccount & Record<string, unknown>>(
      `select account_id, currency from currency_accounts where client_id = $1 order by created_at desc, account_id desc limit 1`,
      [clientId],
    ),
  );
  if (known) return known;
  const { currency } = BENEFICIARY;
  return { account_id: await openCurrencyAccount(tx, act, { clientId, currency }), currency };
}
