import { readFileSync } from 'node:fs';
import type { PaymentFacts, TradeFacts } from '../../src/documents/facts.ts';
import { type Institution, logoFrom } from '../../src/settings/institution.ts';
import type { AccountStatement, StatementLine, StatementSection } from '../../src/statements/account-statement.ts';

/** Facts for the tests, the bench and the example files in docs/examples. */

export const institution: Institution = {
  name: 'Lombard Sandbox',
  address: ['1 Lombard Street', 'London EC3V 9AA', 'United Kingdom'],
  colour: '#14532d',
  logo: logoFrom(readFileSync(new URL('../../docs/examples/logo.svg', import.meta.url))),
};

export const payment: PaymentFacts = {
  payment_id: 'PAY000042',
  uuid: '6f1a8a5e-3f1e-4b6b-9d0a-1c7f6f2f9f11',
  reference: 'INV-2026-0042',
  status: 'Executing Payment',
  scheme: 'SWIFT',
  charges: 'SHA',
  amount: '1250000.5',
  payment_currency: 'EUR',
  fee_amount: '15',
  fee_currency: 'GBP',
  payment_date: '2026-07-03',
  created_date: '2026-07-01T10:15:00+01:00',
  authorised_date: '2026-07-01T11:02:10+01:00',
  sent_date: '2026-07-03T09:00:00+01:00',
  completed_date: null,
  client: { client_id: 'CLI000001', client_name: 'Acme Trading Ltd', account_number: 'LOM-0001' },
  ordered_by: { contact_id: 'CON000001', name: 'Ada Byron' },
  beneficiary: {
    beneficiary_id: 'BEN000007',
    name: 'Müller & Söhne Großhandel GmbH',
    iban: 'DE89370400440532013000',
    account_number: null,
    swift_code: 'COBADEFFXXX',
    bank_identifier: null,
    bank_name: null,
    address: null,
  },
  trade_id: 'TRD000031',
  multipayment: null,
  approvals: {
    workflow: '6-eyes',
    status: 'Approved',
    authorisations: [
      {
        contact_id: 'CON000002',
        contact_name: 'Ελένη Παπαδοπούλου',
        level: 1,
        status: 1,
        date: '2026-07-01T10:40:00+01:00',
      },
      {
        contact_id: 'CON000003',
        contact_name: 'Сергей Иванов',
        level: 2,
        status: 1,
        date: '2026-07-01T11:02:10+01:00',
      },
    ],
  },
};

export const trade: TradeFacts = {
  trade_id: 'TRD000031',
  parent_trade_id: null,
  status: 'Funds In Full',
  trade_type: 'window_forward',
  reference: 'Q3 hedge',
  rate_symbol: 'GBPEUR',
  rate: '1.1523',
  buy_currency: 'EUR',
  buy_amount: '1250000.50',
  sell_currency: 'GBP',
  sell_amount: '1084787.38',
  fee_amount: '15',
  fee_currency: 'GBP',
  order_date: '2026-07-01',
  maturity_date: '2026-07-03T00:00:00+01:00',
  client: payment.client,
  booked_by: payment.ordered_by,
  payments: [
    {
      payment_id: payment.payment_id,
      beneficiary_name: payment.beneficiary.name,
      payment_date: payment.payment_date,
      amount: payment.amount,
      payment_currency: payment.payment_currency,
    },
  ],
  further_payments: 0,
};

const NAMES = [
  'Müller & Söhne GmbH',
  'Hellenic Shipping Ελλάς AE',
  'ООО «Северный ветер»',
  'Société Générale d’Équipement',
  'حلول التجارة',
];
const TEXTS = [
  'Monthly service fee',
  'Invoices 2026-118 to 2026-131, less credit note 77 of the spring delivery',
  'Salary run',
  '',
];

/** Minor units as a decimal string. It is an independent way to write money, which tests compare with. */
export function decimalOf(minor: bigint, places = 2): string {
  const digits = (minor < 0n ? -minor : minor).toString().padStart(places + 1, '0');
  return `${minor < 0n ? '-' : ''}${digits.slice(0, digits.length - places)}${places > 0 ? `.${digits.slice(-places)}` : ''}`;
}

/** A line of a statement with an amount in minor units; a negative amount is a debit. */
function line(index: number, minor: bigint, changes: Partial<StatementLine> = {}): StatementLine {
  const party = {
    account_name: null,
    account_number: `0001${index}`,
    bank_identifier: null,
    bank_identifier_code: null,
    iban: null,
    swift: null,
  };
  const day = String(1 + (Math.floor(index / 2) % 28)).padStart(2, '0');
  return {
    transaction_id: `TXN${String(index).padStart(6, '0')}`,
    kind: minor < 0n ? 'DEBIT_TRANSACTION' : 'CREDIT_INCOMING_TRANSACTION',
    credit_debit_indicator: minor < 0n ? 'Debit' : 'Credit',
    amount: decimalOf(minor < 0n ? -minor : minor),
    booking_datetime: `2026-03-${day}T10:00:00+00:00`,
    value_datetime: index % 4 === 0 ? '2026-03-30T00:00:00+01:00' : null,
    transaction_reference: `INV-2026-${index}`,
    transaction_information: TEXTS[index % TEXTS.length]!,
    additional_transaction_information: null,
    creditor_name: NAMES[index % NAMES.length]!,
    creditor_account: party,
    debtor_name: NAMES[(index + 1) % NAMES.length]!,
    debtor_account: { ...party, iban: 'GB33BUKB20201555555555', swift: 'BUKBGB22' },
    ...changes,
  };
}

/** A section of lines. Its totals and closing balance are computed here, independently of the product. */
export function section(
  currency: string,
  opening: bigint,
  count: number,
  amount: (index: number) => bigint,
  changes: (index: number) => Partial<StatementLine> = () => ({}),
): StatementSection {
  let [credits, debits, credit_count, debit_count] = [0n, 0n, 0, 0];
  for (let index = 0; index < count; index += 1) {
    const minor = amount(index);
    if (minor < 0n) [debits, debit_count] = [debits - minor, debit_count + 1];
    else [credits, credit_count] = [credits + minor, credit_count + 1];
  }
  return {
    account_id: currency === 'GBP' ? '17' : '18',
    currency,
    opening: decimalOf(opening),
    closing: decimalOf(opening + credits - debits),
    totals: { credit_count, credits: decimalOf(credits), debit_count, debits: decimalOf(debits) },
    lines: (async function* () {
      for (let index = 0; index < count; index += 1) yield line(index, amount(index), changes(index));
    })(),
  };
}

/** An amount for each index, of varying sign and size, the same in every run. */
export function mixedAmount(index: number): bigint {
  const minor = BigInt(((index * 7919) % 900_001) + 1);
  return index % 3 === 0 ? -minor : minor;
}

export function statement(...sections: StatementSection[]): AccountStatement {
  return {
    statement_id: '0d9b1f52-98a6-4a3e-8f5e-2f1b7c1f7a10',
    client: payment.client,
    date_from: '2026-03-01',
    date_to: '2026-03-31',
    created_at: '2026-04-01T09:00:00+01:00',
    sections,
  };
}

/** The statement of docs/examples. */
export function exampleStatement(): AccountStatement {
  return statement(
    section('GBP', 1_250_000n, 45, mixedAmount),
    section('EUR', 0n, 0, () => 0n),
  );
}
