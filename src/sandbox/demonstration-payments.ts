import Big from 'big.js';
import { addDays, startOfLondonDay } from '../calendar.ts';
import type { ImportedPayment } from '../imports/payment-row.ts';
import type { PaymentStatus } from '../payments/moves.ts';
import { DEMO_BANKS, DEMO_CLIENTS, DEMO_RATES, type DemoClient } from './demonstration-data.ts';

/** The same on every machine: ids, amounts and names come from this seed, dates from it and today. */
const SEED = 20_260_701;
const DAYS = 365;
const MINUTE = 60_000;

/** Numbers that look random and are the same every time (mulberry32). */
export class Seeded {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** From 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `least` to `most`. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)] as T;
  }

  /** A UUID in the layout of version 4. */
  uuid(): string {
    const hex = Array.from({ length: 32 }, () => this.whole(0, 15).toString(16)).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${'89ab'[this.whole(0, 3)]}${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}

/** A payment of the demonstration, and what becomes of it once its approval has been opened. */
export interface DemoPayment {
  given: ImportedPayment & { payment_id: string; created_date: string };
  status: PaymentStatus;
  created: Date;
  /** Days before today, weekends not yet moved: what orders payments the same way on every day of the week. */
  age: number;
  /** Index of the multi payment it belongs to. */
  multipayment: number | undefined;
}

export interface DemoTrade {
  trade_id: string;
  client_id: string;
  contact_id: string;
  buy_currency: string;
  sell_currency: string;
  buy_amount: string;
  rate: string;
  status: string;
  order_date: string;
  maturity_date: string;
  reference: string;
}

const RECENT: PaymentStatus[] = [
  'Payment pending of authorization',
  'Validating beneficiary information',
  'Payment pending of authorization',
  'Waiting for payment date',
  'Executing Payment',
  'Need more beneficiary information',
  'Waiting for payment date',
  'Payment pending of authorization',
];
/** Days during which payments are still under way. */
const RECENT_DAYS = 12;
const MULTIPAYMENTS_OF_CLIENT = 3;
const PAYMENTS_OF_MULTIPAYMENT = 3;
const MASS_PAYMENT_SIZE = 12;
/** Days that one trade of a client and currency funds. */
const QUARTER = 92;

/** All payments, oldest first, and the trades that fund them. @param today London day */
export function demonstrationPayments(today: string, now: Date): { payments: DemoPayment[]; trades: DemoTrade[] } {
  const random = new Seeded(SEED);
  const payments = DEMO_CLIENTS.flatMap((client, index) => clientPayments(random, client, index, today, now)).sort(
    (a, b) => b.age - a.age || (a.given.client_id < b.given.client_id ? -1 : 1),
  );
  payments.forEach((payment, index) => {
    payment.given.payment_id = `PAY${String(index + 1).padStart(6, '0')}`;
  });
  return { payments, trades: fundingTrades(payments) };
}

function clientPayments(
  random: Seeded,
  client: DemoClient,
  clientIndex: number,
  today: string,
  now: Date,
): DemoPayment[] {
  const massIds = [random.uuid(), random.uuid()];
  const multipayments = MULTIPAYMENTS_OF_CLIENT * PAYMENTS_OF_MULTIPAYMENT;
  return Array.from({ length: client.payments }, (_, index) => {
    // From the oldest on; the last tenth is under way.
    const age = Math.floor((DAYS - 1) * (1 - index / client.payments) ** 1.1);
    const recent = age <= RECENT_DAYS || index >= client.payments - RECENT.length * 2;
    const bank = DEMO_BANKS[index < 17 ? index : random.whole(0, DEMO_BANKS.length - 1)] ?? DEMO_BANKS[0];
    const bankIndex = DEMO_BANKS.indexOf(bank as (typeof DEMO_BANKS)[number]);
    const status = recent ? (RECENT[index % RECENT.length] as PaymentStatus) : settled(random);
    const days = recent ? age % 5 : age;
    const day = workday(addDays(today, -days));
    const created = new Date(
      Math.min(startOfLondonDay(day).getTime() + random.whole(8 * 60, 17 * 60 + 59) * MINUTE, now.getTime() - MINUTE),
    );
    const mass = Math.floor(index / MASS_PAYMENT_SIZE);
    const inMass = mass === 3 || mass === 7;
    return {
      given: {
        payment_id: '',
        client_id: client.client_id,
        contact_id: random.pick(client.creators),
        trade_id: '',
        beneficiary_id: `BEN${String(clientIndex * DEMO_BANKS.length + bankIndex + 1).padStart(6, '0')}`,
        amount: amountIn(random, bank?.currency ?? 'GBP'),
        payment_currency: bank?.currency ?? 'GBP',
        payment_date: paymentDay(random, status, day, today),
        reference: `INV-${day.slice(0, 4)}-${String(random.whole(1_000, 9_999))}`,
        charges: random.pick(['SHA', 'SHA', 'OUR']),
        scheme: (bank?.scheme ?? 'SWIFT') as ImportedPayment['scheme'] & string,
        invoice_required: random.next() < 0.1,
        uuid: random.uuid(),
        created_date: created.toISOString(),
        ...(random.next() < 0.3 ? { fee_amount: '12.50', fee_currency: 'GBP' } : {}),
        ...(inMass
          ? {
              mass_payment_id: massIds[mass === 3 ? 0 : 1] as string,
              mass_payment_external_reference_id: `SALARIES-${clientIndex + 1}-${mass === 3 ? 1 : 2}`,
            }
          : {}),
      },
      status,
      created,
      age: days,
      multipayment:
        index >= 60 && index < 60 + multipayments
          ? clientIndex * MULTIPAYMENTS_OF_CLIENT + Math.floor((index - 60) / PAYMENTS_OF_MULTIPAYMENT)
          : undefined,
    };
  });
}

function settled(random: Seeded): PaymentStatus {
  const draw = random.next();
  if (draw < 0.06) return 'Payment cancelled';
  return draw < 0.1 ? 'Payment rejected' : 'Payment complete';
}

/** Saturday and Sunday become the Friday before. */
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

/** Between some 80 and 80,000 pounds' worth, more small ones than large; yen have no decimals. */
function amountIn(random: Seeded, currency: string): string {
  const pounds = 80 * 1_000 ** random.next();
  return new Big(pounds).times(DEMO_RATES[currency] ?? 1).toFixed(currency === 'JPY' ? 0 : 2);
}

/** A trade for each client, currency and quarter of a year, over the sum of its payments. */
function fundingTrades(payments: DemoPayment[]): DemoTrade[] {
  const trades = new Map<string, DemoTrade>();
  for (const { given, age } of payments) {
    const day = given.created_date.slice(0, 10);
    const key = `${given.client_id} ${given.payment_currency} ${Math.floor(age / QUARTER)}`;
    let trade = trades.get(key);
    if (!trade) {
      const rate = DEMO_RATES[given.payment_currency];
      trade = {
        trade_id: `TRD${String(trades.size + 1).padStart(6, '0')}`,
        client_id: given.client_id,
        contact_id: given.contact_id,
        buy_currency: given.payment_currency,
        sell_currency: rate === undefined ? 'EUR' : 'GBP',
        buy_amount: '0',
        rate: rate ?? '0.8540',
        status: age >= QUARTER ? 'Closed' : 'Funds In Full',
        order_date: day,
        maturity_date: addDays(day, 2),
        reference: `FX ${given.payment_currency}`,
      };
      trades.set(key, trade);
    }
    trade.buy_amount = new Big(trade.buy_amount).plus(given.amount).toFixed(given.payment_currency === 'JPY' ? 0 : 2);
    given.trade_id = trade.trade_id;
  }
  return [...trades.values()];
}
