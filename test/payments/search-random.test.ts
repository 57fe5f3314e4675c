import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessToken } from '../world/access-token.ts';
import { client, contact, type Given, pay } from '../world/payments.ts';
import { startTestService, type TestService } from '../world/service.ts';

/**
 * Some thousands of random combinations of filters over HTTP, compared with a filter over a list in memory that was written
 * from the service interface and docs/decisions.md, 2 alone. LOMBARD_TEST_SEED repeats a run.
 */

const SEED = Number(process.env.LOMBARD_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
const COMBINATIONS = 800;
/** More than the search collects before it walks an index instead. */
const PAYMENTS = 4_200;
const AT_ONCE = 4;

let state = SEED;
/** mulberry32 */
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const below = (n: number) => Math.floor(random() * n);
const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;

const STATUSES = [
  'Payment pending of authorization',
  'Validating beneficiary information',
  'Need more beneficiary information',
  'Waiting for payment date',
  'Executing Payment',
  'Payment complete',
  'Payment rejected',
  'Payment cancelled',
] as const;
const CURRENCIES = ['EUR', 'USD', 'GBP', 'SEK', 'JPY'];
const MASS = ['0f8fad5b-d9cb-469f-a165-70867728950e', '7d8b0d7e-3b2a-4f3c-9a44-0d2c5a7f1e11'];
const START = Date.UTC(2025, 8, 20);
const DAYS = 240;

interface Known
  extends Required<
    Pick<
      Given,
      'payment_id' | 'amount' | 'payment_currency' | 'status' | 'created' | 'payment_date' | 'trade' | 'beneficiary'
    >
  > {
  place: number;
  reference: string | null;
  mass_payment_id: string | null;
  mass_payment_external_reference_id: string | null;
  /** Contacts who may authorise it now. */
  approvers: string[];
}

let service: TestService;
const tokens: Record<string, string> = {};
const payments: Known[] = [];

before(async () => {
  service = await startTestService();
  const { token } = await client(service, 'RND');
  tokens['CON-RND'] = token;
  await contact(service, 'CLI-RND', 'CON-SECOND', false);
  tokens['CON-SECOND'] = await accessToken(service, 'CON-SECOND');
  await client(service, 'NOISE');
  for (let place = 0; place < PAYMENTS; place += 1) {
    const created = new Date(START + below(DAYS * 24) * 3_600_000 - (below(3) === 0 ? 1 : 0)).toISOString();
    const status = pick(STATUSES);
    const pending = status === STATUSES[0];
    payments.push({
      place,
      payment_id: `R${place}`,
      amount: pick([
        '100',
        '100.00',
        '99.99',
        '100.01',
        '250',
        '0.10',
        String(below(100_000) / 100),
        String(below(5_000_000_000)),
      ]),
      payment_currency: pick(CURRENCIES),
      status,
      created,
      payment_date: new Date(START + below(DAYS) * 86_400_000).toISOString().slice(0, 10),
      trade: 1 + below(3),
      beneficiary: 1 + below(3),
      reference: pick([null, '', 'Invoice', 'invoice', `Invoice ${below(50)}`]),
      mass_payment_id: pick([null, null, ...MASS]),
      mass_payment_external_reference_id: pick([null, null, 'M 1', 'M,2']),
      approvers: pending ? Object.keys(tokens).filter(() => below(2) === 0) : [],
    });
  }
  const noise = payments.slice(0, 500).map((payment) => ({ ...payment, payment_id: `N${payment.place}` }));
  // In pieces, with the roll-up between them: some totals are rolled up, the last ones are still deltas.
  for (let from = 0; from < PAYMENTS; from += 1_050) {
    const piece = payments.slice(from, from + 1_050);
    const ids = await pay(service, 'RND', piece);
    if (from === 0) await pay(service, 'NOISE', noise);
    for (const [n, payment] of piece.entries()) {
      for (const approver of payment.approvers) {
        await service.query(
          'insert into payment_approvers (client_id, contact_id, payment_id, created, payment_date, may_authorise, may_reject) values ($1, $2, $3, $4, $5, true, true)',
          ['CLI-RND', approver, ids[n], payment.created, payment.payment_date],
        );
      }
      // One who may reject only is not one who may authorise.
      if (payment.status === STATUSES[0] && payment.approvers.length === 0) {
        await service.query(
          'insert into payment_approvers (client_id, contact_id, payment_id, created, payment_date, may_authorise, may_reject) values ($1, $2, $3, $4, $5, false, true)',
          ['CLI-RND', 'CON-RND', ids[n], payment.created, payment.payment_date],
        );
      }
    }
  }
});
after(() => service.stop());

const londonFormat = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'Europe/London',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});
const londonDays = new Map<string, string>();
function londonDay(instant: string): string {
  const known = londonDays.get(instant) ?? londonFormat.format(new Date(instant));
  londonDays.set(instant, known);
  return known;
}

/** The specification's filter: whether a payment matches. */
function matches(payment: Known, query: URLSearchParams, viewer: string): boolean {
  const has = (name: string, fits: (value: string) => boolean) => !query.has(name) || fits(query.get(name) as string);
  const items = (value: string) => value.split(',').map((item) => item.trim());
  const final = ['Payment complete', 'Payment rejected', 'Payment cancelled'].includes(payment.status);
  const pendingAuthorisation = payment.status === 'Payment pending of authorization';
  const mine = payment.approvers.includes(viewer);
  const statuses: Record<string, boolean> = {
    pending: !final,
    pending_to_authorise: pendingAuthorisation,
    authorised: !final && !pendingAuthorisation,
    cancelled: payment.status === 'Payment cancelled',
    rejected: payment.status === 'Payment rejected',
    complete: payment.status === 'Payment complete',
    pending_your_approval: pendingAuthorisation && mine,
    pending_others_approval: pendingAuthorisation && !mine,
  };
  // Amounts are compared in hundredths, as whole numbers.
  const cents = BigInt(Math.round(Number(payment.amount) * 100));
  const limit = BigInt(query.get('amount') ?? 0) * 100n;
  return (
    has('payment_ids', (value) => items(value).includes(payment.payment_id)) &&
    has('payment_currency', (value) => items(value).includes(payment.payment_currency)) &&
    has('mass_payment_id', (value) => payment.mass_payment_id === value.toLowerCase()) &&
    has('mass_payment_external_reference_id', (value) => payment.mass_payment_external_reference_id === value) &&
    has('amount_range', (value) =>
      value === 'over' ? cents > limit : value === 'below' ? cents < limit : cents === limit,
    ) &&
    has('reference', (value) => payment.reference === value) &&
    has('trade_id', (value) => `TRD-RND-${payment.trade}` === value) &&
    has('beneficiary_id', (value) => `BEN-RND-${payment.beneficiary}` === value) &&
    has('from_payment_date', (value) => payment.payment_date >= value) &&
    has('to_payment_date', (value) => payment.payment_date <= value) &&
    has('from_created_date', (value) => londonDay(payment.created) >= value) &&
    has('to_created_date', (value) => londonDay(payment.created) <= value) &&
    has('status', (value) => statuses[value] as boolean)
  );
}

function expected(query: URLSearchParams, viewer: string): { total: number; ids: string[] } {
  const found = payments.filter((payment) => matches(payment, query, viewer));
  const key = query.get('order_by') === 'value_date' ? (p: Known) => p.payment_date : (p: Known) => p.created;
  found.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a.place - b.place));
  if (query.get('order') === 'desc') found.reverse();
  const [page, size] = [Number(query.get('page') ?? 1), Number(query.get('page_size') ?? 50)];
  return { total: found.length, ids: found.slice((page - 1) * size, page * size).map((payment) => payment.payment_id) };
}

const someDay = () => new Date(START + (below(DAYS + 40) - 20) * 86_400_000).toISOString().slice(0, 10);

/** Each filter's values; what is rare in a query is rare here. */
const FILTERS: [name: string, share: number, value: () => string][] = [
  [
    'payment_ids',
    0.06,
    () => Array.from({ length: 1 + below(40) }, () => `R${below(PAYMENTS + 50)}`).join(pick([',', ', '])),
  ],
  ['payment_currency', 0.3, () => Array.from({ length: 1 + below(3) }, () => pick([...CURRENCIES, 'CHF'])).join(',')],
  ['mass_payment_id', 0.05, () => pick([...MASS, (MASS[0] as string).toUpperCase(), 'none'])],
  ['mass_payment_external_reference_id', 0.05, () => pick(['M 1', 'M,2', 'M'])],
  ['reference', 0.08, () => pick(['', 'Invoice', 'invoice', `Invoice ${below(50)}`])],
  ['trade_id', 0.07, () => `TRD-RND-${1 + below(4)}`],
  ['beneficiary_id', 0.07, () => `BEN-RND-${1 + below(4)}`],
  ['from_payment_date', 0.15, someDay],
  ['to_payment_date', 0.15, someDay],
  ['from_created_date', 0.15, someDay],
  ['to_created_date', 0.15, someDay],
  [
    'status',
    0.45,
    () =>
      pick([
        'pending',
        'pending_to_authorise',
        'authorised',
        'cancelled',
        'rejected',
        'complete',
        'pending_your_approval',
        'pending_others_approval',
      ]),
  ],
  ['order', 0.5, () => pick(['asc', 'desc'])],
  ['order_by', 0.5, () => pick(['order_date', 'value_date'])],
  ['page_size', 0.6, () => pick(['1', '7', '50', '100', '1000'])],
];

function randomQuery(): URLSearchParams {
  const query = new URLSearchParams({ client_id: 'CLI-RND' });
  for (const [name, share, value] of FILTERS) if (random() < share) query.set(name, value());
  if (random() < 0.2) {
    query.set('amount', pick(['100', '99', '0', '-1', '250', '1000', '49999999', String(below(2_000_000_000))]));
    query.set('amount_range', pick(['over', 'below', 'equal']));
  }
  if (random() < 0.5) query.set('page', pick(['1', '2', '3', '5', '25', '30', '2000', String(1 + below(60))]));
  return query;
}

test(`${COMBINATIONS} random searches agree with the specification (seed ${SEED})`, async () => {
  let [done, found] = [0, 0];
  const worker = async () => {
    while (done < COMBINATIONS) {
      done += 1;
      const query = randomQuery();
      const viewer = pick(Object.keys(tokens));
      const wanted = expected(query, viewer);
      const answer = await service.client(tokens[viewer] as string, 'GET', `/payments?${query}`);
      const message = `seed ${SEED}: ${viewer} ${query}`;
      assert.equal(answer.status, 200, `${message} ${answer.text.slice(0, 300)}`);
      assert.equal(answer.headers.get('x-total-count'), String(wanted.total), message);
      assert.deepEqual(
        answer.body.map((payment: { payment_id: string }) => payment.payment_id),
        wanted.ids,
        message,
      );
      if (wanted.ids.length > 0) found += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  assert.ok(found > COMBINATIONS / 3, `only ${found} searches found anything`);
});
