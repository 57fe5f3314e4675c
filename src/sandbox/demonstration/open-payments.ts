import Big from 'big.js';
import { addDays } from '../../values/calendar.ts';
import { beneficiaryId, DEMO_BANKS } from './banks.ts';
import type { DemoPayment } from './history.ts';
import { DEMO_CLIENTS, type DemoClient } from './institution.ts';
import { itemOf, Seeded } from './seeded.ts';

/**
 * Payments that wait for an approval, in addition to those of the history. There are enough to try each documented request several times
 * (docs/sandbox.md). Small and large amounts alternate, so that every rule of the clients applies to some.
 */

const SEED = 20_260_702;
/** The number of single payments of a client, of multi payments of a client, and of payments in one of these. */
const SINGLE_PAYMENTS = 16;
const MULTIPAYMENTS = 4;
const PAYMENTS_OF_MULTIPAYMENT = 3;
/** Amounts in the payments' currencies, below and above every threshold. */
const SMALL_AMOUNT = 1_000;
const LARGE_AMOUNT = 60_000;
/** A payment that the client has ordered itself. It holds money on its account until it is booked. The first client's first account is in pounds. */
const ORDERED = { clientIndex: 0, number: 10, contact_id: 'CON000001', fundingAccount: 1 };
const MINUTE_MS = 60_000;
/** Days until the payment date, so that nobody has to hurry. */
const DUE_DAYS = 14;
/** Banks for pounds, euros, francs and dollars. Amounts in the currencies of all banks would not be comparable. */
const BANKS = [0, 1, 2, 6, 11];

/** The number of open multi payments of all clients. */
export const OPEN_MULTIPAYMENTS = DEMO_CLIENTS.length * MULTIPAYMENTS;

/**
 * The open payments of all clients.
 * @param firstNumber of the first payment's identifier
 * @param firstMultipayment index of the first multi payment
 */
export function openPayments(
  today: string,
  now: Date,
  { firstNumber, firstMultipayment }: { firstNumber: number; firstMultipayment: number },
): DemoPayment[] {
  const random = new Seeded(SEED);
  const perClient = SINGLE_PAYMENTS + MULTIPAYMENTS * PAYMENTS_OF_MULTIPAYMENT;
  return DEMO_CLIENTS.flatMap((client, clientIndex) =>
    Array.from({ length: perClient }, (_, number) => {
      const place = clientIndex * perClient + number;
      const group = Math.floor((number - SINGLE_PAYMENTS) / PAYMENTS_OF_MULTIPAYMENT);
      const ordered = clientIndex === ORDERED.clientIndex && number === ORDERED.number ? ORDERED : undefined;
      return {
        input: {
          ...openPayment(random, client, clientIndex, number),
          ...(ordered && { contact_id: ordered.contact_id }),
          payment_id: `PAY${String(firstNumber + place).padStart(6, '0')}`,
          payment_date: addDays(today, DUE_DAYS),
          created_date: new Date(now.getTime() - (perClient - number) * MINUTE_MS).toISOString(),
        },
        status: 'Payment pending of authorization' as const,
        created: new Date(now.getTime() - (perClient - number) * MINUTE_MS),
        age: 0,
        multipayment: group < 0 ? undefined : firstMultipayment + clientIndex * MULTIPAYMENTS + group,
        ownTrade: group >= 0,
        fundingAccount: ordered?.fundingAccount,
      };
    }),
  );
}

function openPayment(random: Seeded, client: DemoClient, clientIndex: number, number: number) {
  const bankIndex = itemOf(BANKS, number % BANKS.length);
  const bank = itemOf(DEMO_BANKS, bankIndex);
  const amount = new Big(number % 2 === 0 ? SMALL_AMOUNT : LARGE_AMOUNT).plus(random.whole(0, 90_000) / 100);
  return {
    client_id: client.client_id,
    contact_id: client.openCreator,
    trade_id: '',
    beneficiary_id: beneficiaryId(clientIndex, bankIndex),
    amount: amount.toFixed(2),
    payment_currency: bank.currency,
    reference: `OPEN-${String(number + 1).padStart(3, '0')}`,
    charges: 'SHA',
    scheme: bank.scheme,
    uuid: random.uuid(),
  };
}
