import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { type ApprovalsWorld, approvalsWorld } from './world/approvals.ts';
import { isOnWorkers, ON_WORKERS, SEVERAL_CELLS } from './world/cells.ts';
import { createDatabase } from './world/database.ts';
import { startTestService, type TestService } from './world/service.ts';
import { Wire } from './world/wire.ts';

/** A change waits for its database a bounded number of times, whatever it leaves behind (docs/decisions/0029). */

/** Without more for so many milliseconds, the server has answered what it was sent. */
const TOGETHER_MS = 25;

/** Stands between the service and its database, and notes each transaction: what it has said before each time that it waited. */
class Listener extends Wire {
  readonly transactions: string[][] = [];

  protected carry(near: Socket, far: Socket): void {
    let turns: string[] = [];
    let isAnswered = true;
    // The answers to one turn come together, as over a long way: what is sent after a part of them counts once.
    let answers: Buffer[] = [];
    let delivery: NodeJS.Timeout | undefined;
    far.on('data', (data) => {
      answers.push(data);
      clearTimeout(delivery);
      delivery = setTimeout(() => {
        isAnswered = true;
        near.write(Buffer.concat(answers));
        answers = [];
      }, TOGETHER_MS);
    });
    near.on('data', (data) => {
      const said = data.toString('latin1');
      if (said.includes('begin\0')) turns = [];
      if (isAnswered || turns.length === 0) turns.push('');
      isAnswered = false;
      turns[turns.length - 1] += said;
      far.write(data);
      if (!said.includes('commit\0')) return;
      this.transactions.push(turns);
      turns = [];
    });
  }
}

let listener: Listener;
let service: TestService;
let world: ApprovalsWorld;
let account: number;

before(async () => {
  const database = await createDatabase();
  listener = new Listener(new URL(database.url));
  service = await startTestService({}, { ...database, url: await listener.open(new URL(database.url)) });
  world = await approvalsWorld(service, ['Ann', 'Bob']);
  await world.configure({ A: ['Ann'], B: ['Bob'] }, [['0', [['A']], [['B']]]]);
  await world.hire('Orderer', ['can_create_payments']);
  const opened = await service.operator('POST', '/currency-accounts', { client_id: world.clientId, currency: 'EUR' });
  account = opened.body.account_id;
});
after(async () => {
  await service.stop();
  listener.close();
});

/** How often the transaction of a call that names something waits. The second call: statements are prepared then. */
async function turnsOf(
  name: string,
  call: () => Promise<{ status: number; text: string }>,
  says: string,
): Promise<number> {
  listener.transactions.length = 0;
  const answer = await call();
  assert.ok(answer.status < 300, `${name}: ${answer.text}`);
  const own = listener.transactions.filter((turns) => {
    const said = turns.join('');
    // Work in the background names what it finds, too. It has no audit row, or one of the service.
    return says !== '' && said.includes(says) && said.includes('\0audit\0') && /(contact|operator):/.test(said);
  });
  return Math.max(...own.map((turns) => turns.length));
}

type Measure = (name: string, call: () => Promise<{ status: number; text: string }>, says: string) => Promise<void>;

/** What a contact orders of a beneficiary. */
async function orderBeneficiary(measure: Measure, round: number): Promise<void> {
  const orderer = world.people.Cy ?? (await world.hire('Cy', ['can_manage_beneficiaries']));
  const places = { country_code: 'DE', bank_country_code: 'DE', bank_currency_code: 'EUR' };
  const order = { ...places, name: `Payee ${round}`, iban: 'DE02120300000000202051' };
  let one = '';
  const create = async () => {
    const made = await world.ask(orderer, 'POST', '/beneficiaries', order);
    one = `/beneficiaries/${made.body.beneficiary_id}`;
    return made;
  };
  await measure('a beneficiary', create, order.name);
  const change = { name: `Renamed ${round}` };
  await measure('a changed beneficiary', () => world.ask(orderer, 'PATCH', one, change), change.name);
  await measure('a deleted beneficiary', () => world.ask(orderer, 'DELETE', one), change.name);
}

/** Payments that a contact orders, and their end. */
async function orderPayments(measure: Measure, book: () => Promise<unknown>, round: number): Promise<void> {
  await book();
  const from = { account: { funding_account_id: account, reason: 'other' }, trade: { trade_id: world.tradeId } };
  for (const [what, source] of Object.entries(from)) {
    const reference = `From ${what} ${round}`;
    const payment = { beneficiary_id: world.beneficiaryId, amount: 1, payment_date: '2026-12-01', reference };
    let ordered = '';
    const order = async () => {
      const made = await world.ask(world.person('Orderer'), 'POST', '/payments', { ...source, payments: [payment] });
      ordered = made.body[0]?.payment_id;
      return made;
    };
    await measure(`an order from ${what}`, order, reference);
    const cancel = () => world.ask(world.person('Orderer'), 'DELETE', `/payments/${ordered}`);
    await measure(`the end of an order from ${what}`, cancel, ordered);
  }
}

/** A quote, its booking, and a drawdown. */
async function exchange(measure: Measure): Promise<void> {
  const trader = world.people.Trader ?? (await world.hire('Trader', ['can_trade']));
  await service.operator('PATCH', `/clients/${world.clientId}`, { fx_enabled: true });
  await service.operator('PUT', '/fx-availability', { mode: 'open' });
  await service.operator('PUT', '/exchange-rates', { base_currency: 'EUR', rates: { GBP: 0.85 } });
  const wanted = { amount: 1, operation: 'sell', buy_currency: 'GBP', sell_currency: 'EUR', trade_type: 'spot' };
  let quote = '';
  const ask = async () => {
    const made = await world.ask(trader, 'POST', '/quotes', wanted, '&quote_type=quote');
    quote = made.body.quote_id;
    return made;
  };
  await measure('a quote', ask, 'quote-create');
  const order = { reason: 'other', funding_account_id: account };
  await measure('a booked quote', () => world.ask(trader, 'POST', '/trades', order, `&quote_id=${quote}`), quote);
  const { body: forward } = await service.operator('POST', '/trades', {
    ...{ client_id: world.clientId, contact_id: trader.id, trade_type: 'window_forward', rate: 0.85 },
    ...{ buy_currency: 'GBP', sell_currency: 'EUR', buy_amount: 100 },
  });
  const part = { buy_amount: 1, reason: 'other' };
  const draw = () => world.ask(trader, 'POST', `/trades/${forward.trade_id}/drawdowns`, part);
  await measure('a drawdown', draw, forward.trade_id);
}

/** With several cells, identifiers are claimed, and notifications are written before the transaction continues. */
const MOST = SEVERAL_CELLS ? { change: 7, exchange: 4 } : { change: 4, exchange: 3 };

test('a change has at most four round trips, with several cells seven', async (t) => {
  if (await isOnWorkers(service)) return t.skip(ON_WORKERS);
  const counts: Record<string, number> = {};
  const measure = async (name: string, call: () => Promise<{ status: number; text: string }>, says: string) => {
    counts[name] = await turnsOf(name, call, says);
  };
  const book = () =>
    service.operator(
      'POST',
      '/transactions',
      {
        client_id: world.clientId,
        currency_account_id: account,
        kind: 'CREDIT_INCOMING_TRANSACTION',
        amount: { amount: '10.50', currency: 'EUR' },
      },
      { headers: { 'idempotency-key': crypto.randomUUID() } },
    );
  for (const round of [1, 2]) {
    await measure('a booking', book, 'CREDIT_INCOMING_TRANSACTION');
    let id = '';
    await measure(
      'a payment',
      async () => {
        const made = await world.pay({ amount: 100, reference: `Round ${round}` });
        id = made.body.payment_id;
        return made;
      },
      `Round ${round}`,
    );
    await measure('a first approval', () => world.patch(world.person('Ann'), id, 'authorise'), id);
    await measure('the last approval', () => world.patch(world.person('Bob'), id, 'authorise'), id);
    for (const action of ['validate', 'send', 'complete'])
      await measure(`action ${action}`, () => service.operator('POST', `/payments/${id}/actions`, { action }), id);
    await orderBeneficiary(measure, round);
    await orderPayments(measure, book, round);
    await exchange(measure);
    const others = [await world.create(), await world.create()];
    await measure('a deletion', () => world.ask(world.owner, 'DELETE', `/payments/${others[0]}`), others[0] as string);
    await measure(
      'a rejection',
      () => world.patch(world.person('Ann'), others[1] as string, 'reject'),
      others[1] as string,
    );
  }
  const exchanges = ['a quote', 'a booked quote', 'a drawdown'];
  assert.deepEqual(
    Object.entries(counts).filter(([name, count]) => count > (exchanges.includes(name) ? MOST.exchange : MOST.change)),
    [],
  );
});
