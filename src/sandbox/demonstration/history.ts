import Big from 'big.js';
import type { ImportedPayment } from '../../payments/declaration.ts';
import type { PaymentStatus } from '../../payments/moves.ts';
import { addDays, startOfLondonDay } from '../../values/calendar.ts';
import { minorUnits } from '../../values/currencies.ts';
import { beneficiaryId, DEMO_BANKS, DEMO_RATES } from './banks.ts';
import { DEMO_CLIENTS, type DemoClient } from './institution.ts';
import { itemOf, Seeded } from './seeded.ts';

/** Ids, amounts and names come from this seed, so they are the same on every machine. Dates come from it and today. */
const SEED = 20_260_701;
const HISTORY_DAYS = 365;
/** Days in which payments are still in progress. */
const RECENT_DAYS = 12;
const MINUTE_MS = 60_000;

const RECENT_STATUSES: PaymentStatus[] = [
  'Payment pending of authorization',
  'Validating beneficiary information',
  'Payment pending of authorization',
  'Waiting for payment date',
  'Executing Payment',
  'Need more beneficiary information',
  'Waiting for payment date',
  'Payment pending of authorization',
];

/** The number of payments in one mass payment, and which dozens of a client's payments are mass payments. */
const MASS_PAYMENT_SIZE = 12;
const MASS_PAYMENTS = [3, 7];

const MULTIPAYMENTS_OF_CLIENT = 3;
const PAYMENTS_OF_MULTIPAYMENT = 3;
/** The number of the client's payment at which its multi payments begin. */
const FIRST_IN_MULTIPAYMENT = 60;
/** The number of multi payments in the history, of all clients. */
export const PAST_MULTIPAYMENTS = DEMO_CLIENTS.length * MULTIPAYMENTS_OF_CLIENT;

/** A payment of the demonstration, and the status that it reaches after its approval has been opened. */
export interface DemoPayment {
  input: ImportedPayment & { payment_id: string; created_date: string };
  status: PaymentStatus;
  created: Date;
  /** Days before today, before weekends are moved. It sorts payments in the same way on every day of the week. */
  age: number;
  /** Index of the multi payment to which it belongs. */
  multipayment: number | undefined;
  /** Whether its multi payment books a separate trade for it. */
  ownTrade?: boolean;
  /** The currency account that its client used to order it, and that holds the money. */
  fundingAccount?: number | undefined;
}

/** All payments of a year, oldest first, without their trades. @param today London day */
export function demonstrationPayments(today: string, now: Date): DemoPayment[] {
  const random = new Seeded(SEED);
  const payments = DEMO_CLIENTS.flatMap((client, index) => {
    const massIds = [random.uuid(), random.uuid()];
    const history = { random, client, clientIndex: index, massIds, today, now };
    return Array.from({ length: client.payments }, (_, number) => createPayment(history, number));
  });
  payments.sort((a, b) => b.age - a.age || (a.input.client_id < b.input.client_id ? -1 : 1));
  payments.forEach((payment, index) => {
    payment.input.payment_id = `PAY${String(index + 1).padStart(6, '0')}`;
  });
  return payments;
}

interface ClientHistory {
  random: Seeded;
  client: DemoClient;
  clientIndex: number;
  massIds: string[];
  today: string;
  now: Date;
}

/**
 * A client's payment. The order in which it draws random numbers must not change, or every amount and id changes.
 * @param number from 0 for the oldest; the last tenth is in progress
 */
function createPayment(
  { random, client, clientIndex, massIds, today, now }: ClientHistory,
  number: number,
): DemoPayment {
  const yearAge = Math.floor((HISTORY_DAYS - 1) * (1 - number / client.payments) ** 1.1);
  const recent = yearAge <= RECENT_DAYS || number >= client.payments - RECENT_STATUSES.length * 2;
  // Each bank is used once first, and then any.
  const bankIndex = number < DEMO_BANKS.length ? number : random.whole(0, DEMO_BANKS.length - 1);
  const bank = itemOf(DEMO_BANKS, bankIndex);
  const status = recent ? itemOf(RECENT_STATUSES, number % RECENT_STATUSES.length) : finalStatus(random);
  const age = recent ? yearAge % 5 : yearAge;
  const day = workday(addDays(today, -age));
  const minute = random.whole(8 * 60, 17 * 60 + 59);
  const created = new Date(Math.min(startOfLondonDay(day).getTime() + minute * MINUTE_MS, now.getTime() - MINUTE_MS));
  return {
    input: {
      payment_id: '',
      client_id: client.client_id,
      contact_id: random.pick(client.creators),
      trade_id: '',
      beneficiary_id: beneficiaryId(clientIndex, bankIndex),
      amount: amountIn(random, bank.currency),
      payment_currency: bank.currency,
      payment_date: paymentDay(random, status, day, today),
      reference: `INV-${day.slice(0, 4)}-${String(random.whole(1_000, 9_999))}`,
      charges: random.pick(['SHA', 'SHA', 'OUR']),
      scheme: bank.scheme,
      invoice_required: random.next() < 0.1,
      uuid: random.uuid(),
      created_date: created.toISOString(),
      ...(random.next() < 0.3 ? { fee_amount: '12.50', fee_currency: 'GBP' } : {}),
      ...massPayment(clientIndex, massIds, number),
    },
    status,
    created,
    age,
    multipayment: multipaymentOf(clientIndex, number),
  };
}

function massPayment(clientIndex: number, massIds: string[], number: number) {
  const mass = MASS_PAYMENTS.indexOf(Math.floor(number / MASS_PAYMENT_SIZE));
  if (mass < 0) return {};
  return {
    mass_payment_id: itemOf(massIds, mass),
    mass_payment_external_reference_id: `SALARIES-${clientIndex + 1}-${mass + 1}`,
  };
}

function multipaymentOf(clientIndex: number, number: number): number | undefined {
  const index = Math.floor((number - FIRST_IN_MULTIPAYMENT) / PAYMENTS_OF_MULTIPAYMENT);
  return index >= 0 && index < MULTIPAYMENTS_OF_CLIENT ? clientIndex * MULTIPAYMENTS_OF_CLIENT + index : undefined;
}

function finalStatus(random: Seeded): PaymentStatus {
  const draw = random.next();
  if (draw < 0.06) return 'Payment cancelled';
  return draw < 0.1 ? 'Payment rejected' : 'Payment complete';
}

/** Moves Saturday and Sunday to the Friday before. */
function workday(day: string): string {
  const weekday = new Date(`${day}T00:00:00Z`).getUTCDay();
  return weekday === 6 ? addDays(day, -1) : weekday === 0 ? addDays(day, -2) : day;
}

function paymentDay(random: Seeded, status: PaymentStatus, created: string, today: string): string {
  if (status === 'Waiting for payment date' || status === 'Payment pending of authorization')
    return addDays(today, random.whole(1, 10));
  const day = addDays(created, random.whole(0, 3));
  return day > today ? today : day;
}

/** The value of 80 to 80,000 pounds in a currency. Small amounts are more frequent than large ones. */
function amountIn(random: Seeded, currency: string): string {
  const pounds = 80 * 1_000 ** random.next();
  return new Big(pounds).times(DEMO_RATES[currency] ?? 1).toFixed(minorUnits(currency));
}
