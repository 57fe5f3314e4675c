import { DESTINATIONS } from '../../../src/sandbox/course.ts';
import { EVENTS } from '../../../src/sandbox/trigger.ts';
import type { Caller } from '../caller.ts';
import { ORDERED_CURRENCY } from '../party.ts';
import { newPayeeRow } from './bodies.ts';

/** What an integrator does with the sandbox's own calls (docs/sandbox.md). */

/** By the client's own rules of approval. */
export async function paySandbox(at: Caller): Promise<void> {
  const { party, known } = at;
  const reference = at.ledger.mark();
  const { status, answer } = await at.client('sandbox payment', party.token, {
    ...{ path: '/sandbox/payments', body: { reference }, table: 'payments', marks: [reference] },
  });
  if (status === 201) known.payments.push({ id: answer?.body.payment_id, party });
}

/** To the next step, or by several moves at once to wherever a payment can come. */
export async function advance(at: Caller): Promise<void> {
  const payment = at.known.recent(at.random);
  if (!payment) return;
  const { id, party } = payment;
  const body = at.random.next() < 0.5 ? {} : { to: at.random.pick([...DESTINATIONS]) };
  await at.of(party).client('sandbox advance', party.token, { path: `/sandbox/payments/${id}/advance`, body });
}

/** A trigger may choose the approval itself, so it is left to clients without a rule of their own. */
export async function trigger(at: Caller): Promise<void> {
  const { parties, playground } = at.known;
  const party = at.random.pick([playground, ...parties.filter(({ workflow }) => workflow === 'simple')]);
  const body = { event: at.random.pick([...EVENTS]) };
  await at.of(party).client('sandbox trigger', party.token, { path: '/sandbox/trigger', body });
}

/** Payments of every kind of approval, a file, and then everything of the client goes, while others do the same. */
export async function startAgain(at: Caller): Promise<void> {
  const { playground: party } = at.known;
  const own = at.of(party);
  for (const approval of ['needed', 'none'])
    await own.client('sandbox payment before a reset', party.token, { path: '/sandbox/payments', body: { approval } });
  const file = { sell_currency: ORDERED_CURRENCY, payment_instructions: [newPayeeRow(own)], auto_commit: true };
  const body = { ...file, external_reference_id: at.ledger.mark() };
  await own.client('file before a reset', party.orders.tokens[0], { path: '/mass-payments', body });
  await own.client('sandbox reset', party.token, { path: '/sandbox/reset' });
}
