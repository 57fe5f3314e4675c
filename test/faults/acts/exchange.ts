import type { Answer } from '../../world/service.ts';
import type { Caller } from '../caller.ts';
import type { Entry } from '../ledger.ts';
import { ORDERED_CURRENCY } from '../party.ts';
import { inAWeek } from './bodies.ts';

/** What people exchange, pay from trades and draw on them: more than the account, or a trade, covers. */
const MAX_SOLD = 40;
const PAIR = { buy_currency: 'EUR', sell_currency: ORDERED_CURRENCY };
const FORWARD = { ...PAIR, trade_type: 'window_forward', buy_amount: 50, rate: 0.5 };
const FORWARD_DAYS = 90;
const DAY_MS = 86_400_000;
/** Of a trade, what a payment takes of it at most. */
const MAX_SHARE = 0.7;

/** A person asks for a price. Two people book it at the same moment, one of them perhaps with a payment: it is one trade. */
export async function exchange(at: Caller): Promise<void> {
  const { party, random } = at;
  const { tokens, trades, accountId: funding_account_id } = party.orders;
  const body = { ...PAIR, amount: random.whole(2, MAX_SOLD), operation: 'sell', trade_type: 'spot' };
  const asked = await at.client('quote', tokens[0], { path: '/quotes?quote_type=quote', body });
  if (asked.status !== 201) return;
  const { quote_id, buy_amount } = (asked.answer as Answer).body as { quote_id: string; buy_amount: number };
  const funded = { funding_account_id, reason: 'other' };
  const book = async (token: string) => {
    const reference = at.ledger.mark();
    return at.order('quote booked', token, {
      path: `/trades?quote_id=${quote_id}`,
      ...{ body: { ...funded, reference }, table: 'trades', marks: [reference] },
    });
  };
  const pay = (token: string) => orderFrom(at, token, { ...funded, quote_id }, share(at, buy_amount));
  const booked = await Promise.all(tokens.map((token) => (random.next() < 0.5 ? book(token) : pay(token))));
  const made = booked.flatMap(({ status, answer }) => (status === 201 ? [answer as Answer] : []));
  if (made.length > 1) throw new Error(`the quote ${quote_id} was booked twice: ${made.map(({ text }) => text)}`);
  for (const { body } of made) trades.push(Array.isArray(body) ? body[0].trade_id : body.trade_id);
}

/** Two people pay from a trade at the same moment. */
export async function payFromTrade(at: Caller): Promise<void> {
  const { tokens, trades } = at.party.orders;
  const trade_id = trades.at(at.random.whole(0, Math.max(0, trades.length - 1)));
  if (trade_id === undefined) return;
  await Promise.all(tokens.map((token) => orderFrom(at, token, { trade_id }, share(at, MAX_SOLD / 2))));
}

/** Orders a payment in the bought currency. */
async function orderFrom(at: Caller, token: string, source: object, amount: number): Promise<Entry> {
  const { party, known, ledger } = at;
  const { beneficiary_id } = party.base;
  const reference = ledger.mark();
  const payments = [{ beneficiary_id, payment_date: inAWeek(), amount, reference }];
  const entry = await at.order('order from a trade', token, {
    ...{ path: '/payments', body: { ...source, payments }, table: 'payments', marks: [reference] },
  });
  if (entry.status === 201) known.payments.push({ id: entry.answer?.body[0].payment_id, party });
  return entry;
}

const share = (at: Caller, whole: number) => Math.ceil(at.random.next() * MAX_SHARE * whole * 100) / 100;

/** The institution agrees on a forward, and two people draw on it at the same moment. */
export async function drawDown(at: Caller): Promise<void> {
  const { clientId: client_id, contactId: contact_id, orders } = at.party;
  if (orders.forwards.length === 0 || at.random.next() < 0.2) {
    const reference = at.ledger.mark();
    const maturity_date = new Date(Date.now() + FORWARD_DAYS * DAY_MS).toISOString().slice(0, 10);
    const agreed = await at.operator('window forward', {
      ...{ path: '/trades', body: { ...FORWARD, client_id, contact_id, maturity_date, reference } },
      ...{ table: 'trades', marks: [reference] },
    });
    if (agreed.status === 201) orders.forwards.push(agreed.answer?.body.trade_id);
  }
  const parent = orders.forwards.at(-1);
  if (parent === undefined) return;
  const draw = async (token: string) => {
    const reference = at.ledger.mark();
    const funded = at.random.next() < 0.5 ? { funding_account_id: orders.accountId } : {};
    const body = { buy_amount: at.random.whole(5, FORWARD.buy_amount), reason: 'other', reference, ...funded };
    const { status, answer } = await at.order('drawdown', token, {
      ...{ path: `/trades/${parent}/drawdowns`, body, table: 'trades', marks: [reference] },
    });
    if (status === 201) orders.trades.push(answer?.body.trade_id);
  };
  await Promise.all(orders.tokens.map(draw));
}

/** The core settles a trade and books what it sold, or ends it otherwise. */
export async function settleTrade(at: Caller): Promise<void> {
  const { clientId: client_id, orders } = at.party;
  const trade_id = orders.trades.splice(at.random.whole(0, Math.max(0, orders.trades.length - 1)), 1)[0];
  if (trade_id === undefined) return;
  const path = `/trades/${trade_id}`;
  const end = at.random.pick(['Closed', 'Closed', 'Cancelled', 'Rejected']);
  const read = await at.operator('trade read', { method: 'GET', path, silent: true });
  const { sell_amount, funding_account_id } = (read.answer?.body ?? {}) as Record<string, number>;
  const transaction_reference = at.ledger.mark();
  if (end === 'Closed' && funding_account_id)
    await at.operator('debit of a trade', {
      path: '/transactions',
      body: {
        ...{ client_id, currency_account_id: funding_account_id, kind: 'DEBIT_TRANSACTION', trade_id },
        ...{ amount: { amount: Number(sell_amount).toFixed(2), currency: ORDERED_CURRENCY }, transaction_reference },
      },
      ...{ table: 'transactions', marks: [transaction_reference] },
    });
  await at.operator('trade ended', { method: 'PATCH', path, body: { status: end }, silent: true });
}
