import type { Answer } from '../../world/service.ts';
import type { Caller } from '../caller.ts';
import { ORDERED_CURRENCY } from '../party.ts';
import { fileOf, fundedBy, IBAN, NEW_PAYEE, rowsOf } from './bodies.ts';

/** What people send many of at once (docs/files.md). */

const MAX_PAYEES = 6;

/** A file of payments. One with a bad row waits for somebody. */
export async function sendFile(at: Caller): Promise<void> {
  const { tokens, files } = at.party.orders;
  const body = fileOf(at);
  const { status, answer } = await at.order('file', at.random.pick(tokens), {
    ...{ path: '/mass-payments', body, table: 'mass_payments', marks: [body.external_reference_id] },
  });
  if (status === 202) files.push(answer?.body.mass_payment_id);
}

/** Two people confirm a file at the same moment, or one of them discards it. The core learns of its payments. */
export async function handleFile(at: Caller): Promise<void> {
  const { party, random, known } = at;
  const { tokens, files, made } = party.orders;
  const [confirming, other] = tokens;
  const id = files.splice(random.whole(0, Math.max(0, files.length - 1)), 1)[0];
  if (id === undefined) return;
  const path = `/mass-payments/${id}`;
  const confirm = (token: string) => at.order('file confirmed', token, { path: `${path}/confirm`, body: {} });
  const discard = (token: string) => at.client('file discarded', token, { method: 'DELETE', path });
  await Promise.all([confirm(confirming), random.next() < 0.5 ? confirm(other) : discard(other)]);
  const read = { method: 'GET', path: `${path}/payments-received`, silent: true };
  const { status, answer } = await at.client('rows of a file', confirming, read);
  const rows: { payment_id: string | null; payment_amount: number; payment_currency: string }[] =
    status === 200 ? answer?.body : [];
  for (const { payment_id: payment, payment_amount: amount, payment_currency: currency } of rows) {
    if (payment === null) continue;
    known.payments.push({ id: payment, party });
    if (currency === ORDERED_CURRENCY) made.push({ id: payment, amount });
  }
}

/** As a file, but done at once. */
export async function orderMany(at: Caller): Promise<void> {
  const { party, random, known } = at;
  const rows = rowsOf(at, 0);
  const query = new URLSearchParams(Object.entries(fundedBy(at)).map(([name, value]) => [name, String(value)]));
  const { status, answer } = await at.order('multi payment ordered', random.pick(party.orders.tokens), {
    ...{ path: `/multipayments?accept_partial=false&${query}`, body: rows, table: 'payments' },
    marks: rows.map(({ payment_reference: reference }) => reference),
  });
  if (status !== 201) return;
  const { multipayment_id: id, payments } = (answer as Answer).body;
  party.multipayments.push(String(id));
  for (const { payment_id: payment } of payments) known.payments.push({ id: payment, party });
}

/** Payees, some of them twice and some that are none. */
export async function sendPayees(at: Caller): Promise<void> {
  const { random, ledger, party } = at;
  const { country, currency } = NEW_PAYEE;
  const marks = Array.from({ length: random.whole(1, MAX_PAYEES) }, () => ledger.mark());
  const codes = { country_code: country, bank_country_code: country, bank_currency_code: currency };
  const payees = marks.map((name) => ({ ...codes, name, iban: IBAN }));
  const again = random.next() < 0.5 ? [{ ...payees[0] }] : [];
  const none = random.next() < 0.5 ? [{ ...codes, name: ledger.mark(), iban: 'DE00370400440532013000' }] : [];
  await at.order('payees', random.pick(party.orders.tokens), {
    ...{ path: '/mass-beneficiaries', body: [...payees, ...again, ...none], table: 'beneficiaries', marks },
  });
}
