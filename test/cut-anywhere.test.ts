import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type ApprovalsWorld, approvalsWorld } from './world/approvals.ts';
import { StatementCutter } from './world/cutter.ts';
import { createDatabase } from './world/database.ts';
import { createExchange, FX_OPEN, moveClock } from './world/exchange.ts';
import { type OrdersWorld, ordersWorld } from './world/orders.ts';
import { type Answer, startTestService, type TestService } from './world/service.ts';

/**
 * The connection of a change is lost between any two of its statements, as it is when the database is killed there. Sent again, the change is
 * made once, with all that it leaves, or it had been made already.
 */

let cutter: StatementCutter;
let service: TestService;
let orders: OrdersWorld;
let exchange: Awaited<ReturnType<typeof createExchange>>;
let approvals: ApprovalsWorld;
let pounds: number;

before(async () => {
  const database = await createDatabase();
  cutter = new StatementCutter(new URL(database.url));
  const url = await cutter.open(new URL(database.url));
  // Work in the background would add to what a change leaves.
  service = await startTestService({ LOMBARD_ROLES: 'api,auth,operator' }, { ...database, url });
  exchange = await createExchange(service);
  pounds = await exchange.fund('GBP', '1000000.00');
  orders = await ordersWorld(service, { funds: '1000000.00' });
  approvals = await approvalsWorld(service, ['Ann', 'Bob']);
  await approvals.configure({ A: ['Ann'], B: ['Bob'] }, [['0', [['A']], [['B']]]]);
});
after(async () => {
  await service.stop();
  cutter.close();
});

/** What changes leave, by table, of all clients. */
const LEFT = [
  ...[
    'payments',
    'holds',
    'quotes',
    'trades',
    'transactions',
    'beneficiaries',
    'audit',
    'webhook_events',
    'webhook_outbox',
  ],
  ...['idempotency_keys', 'payment_total_deltas', 'trade_total_deltas', 'payment_approvals'],
];

async function left(): Promise<Record<string, number>> {
  const counts = LEFT.map((table) => `(select count(*)::int from ${table}) as ${table}`);
  const { rows } = await service.query(
    `select ${counts.join(', ')}, (select sum(changes)::int from changes) as changes, (select sum(version)::int from change_versions) as versions,
       (select sum(held)::text from currency_accounts) as held, (select sum(balance)::text from currency_accounts) as balance`,
  );
  return rows[0];
}

/** How a number, or a text of an amount, grew. */
const grown = (before: Record<string, number>, now: Record<string, number>) =>
  Object.fromEntries(Object.entries(now).map(([name, value]) => [name, Number(value) - Number(before[name])]));

interface Change {
  /** Does it, under the key where it takes one. */
  send(key: string): Promise<Answer>;
  /** What its transaction says. Default: the key. */
  says?: string;
  /** Its answers when it had been made already and takes no key. */
  again?: number;
}

/** A contact may have 20 open quotes, which end within two minutes. */
const QUOTES_AT_ONCE = 15;
let quotes = 0;
async function oneMoreQuote(): Promise<void> {
  quotes += 1;
  const minutes = 2 * Math.floor(quotes / QUOTES_AT_ONCE);
  if (quotes % QUOTES_AT_ONCE === 0)
    await moveClock(service, new Date(Date.parse(FX_OPEN) + minutes * 60_000).toISOString());
}

const CHANGES: Record<string, () => Promise<Change> | Change> = {
  'an order of two payments from an account': () => ({
    send: (key) =>
      orders.order([orders.payment('1.00'), orders.payment('2.00')], undefined, {
        headers: { 'idempotency-key': key },
      }),
  }),
  'a beneficiary': () => ({
    send: (key) =>
      service.client(orders.token, 'POST', `/beneficiaries?client_id=${orders.clientId}`, {
        body: {
          name: `Payee of ${key}`,
          country_code: 'DE',
          bank_country_code: 'DE',
          bank_currency_code: 'EUR',
          iban: 'DE02120300000000202051',
        },
        headers: { 'idempotency-key': key },
      }),
  }),
  'a quote': async () => {
    await oneMoreQuote();
    return { send: (key) => exchange.ask({}, 'quote', { key }) };
  },
  'a booking of a quote': async () => {
    await oneMoreQuote();
    const { quote_id: id } = await exchange.quoted();
    return { send: (key) => exchange.call('POST', `/trades?quote_id=${id}`, { reason: 'other' }, { key }) };
  },
  'a transaction of the institution': () => ({
    send: (key) =>
      service.operator(
        'POST',
        '/transactions',
        {
          ...{ client_id: exchange.clientId, currency_account_id: pounds, kind: 'CREDIT_TRANSACTION' },
          amount: { amount: '3.00', currency: 'GBP' },
        },
        { headers: { 'idempotency-key': key } },
      ),
  }),
  'a payment of the institution': () => ({
    send: (key) => service.operator('POST', '/payments', orders.base, { headers: { 'idempotency-key': key } }),
  }),
  'an approval, the last of two': async () => {
    const id = await approvals.create();
    assert.equal((await approvals.patch(approvals.person('Ann'), id, 'authorise')).status, 204);
    return { send: () => approvals.patch(approvals.person('Bob'), id, 'authorise'), says: id, again: 400 };
  },
  'an order that is cancelled': async () => {
    const id = await orders.pays('5.00');
    return { send: () => orders.ask('DELETE', `/payments/${id}`), says: id, again: 400 };
  },
};

const MORE_THAN_ANY_CHANGE = 60;

for (const [name, prepare] of Object.entries(CHANGES))
  test(name, { timeout: 240_000 }, async () => {
    // The second one: by then its statements are prepared.
    let whole: Record<string, number> = {};
    for (let round = 0; round < 2; round += 1) {
      const { send } = await prepare();
      const begun = await left();
      const made = await send(randomUUID());
      assert.ok(made.status < 300, made.text);
      whole = grown(begun, await left());
    }
    for (const place of ['statement', 'answer'] as const) {
      let cuts = 0;
      for (let count = 0; count < MORE_THAN_ANY_CHANGE; count += 1) {
        const { send, says, again } = await prepare();
        const key = randomUUID();
        const begun = await left();
        cutter.arm(place, count, says ?? key);
        let answer = await send(key);
        const { wasCut } = cutter;
        cutter.disarm();
        for (let attempt = 0; answer.status >= 500 && attempt < 5; attempt += 1) {
          assert.deepEqual([answer.status, answer.body.code], [502, 'integration_error'], answer.text);
          answer = await send(key);
        }
        assert.ok(answer.status < 300 || answer.status === again, `${place} ${count}: ${answer.status} ${answer.text}`);
        assert.deepEqual(grown(begun, await left()), whole, `${place} ${count}`);
        if (!wasCut) break;
        cuts += 1;
      }
      assert.ok(cuts >= 4 && cuts < MORE_THAN_ANY_CHANGE, `${cuts} cuts`);
    }
  });
