import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { type CreatedPayment, decimal, type NewPayments } from '../../sdk/src/index.ts';
import { CommandFailure, USAGE } from './failure.ts';
import { type BodyOptions, bodyGiven, type Fields, fieldsGiven, withBody, withKey, withTrial } from './fields.ts';
import { example, type Frame } from './frame.ts';
import type { Column } from './printer.ts';
import type { Session } from './session.ts';
import { approve, type CodeOptions, recall, withCode } from './step-up.ts';

/** The fields that apply to the whole order. */
const ORDER_FIELDS: Fields = {
  trade_id: { about: 'the trade that they are paid of' },
  funding_account_id: { about: 'the number of the currency account that they are paid from', as: 'integer' },
  quote_id: { about: 'an open quote, which is booked with them' },
  reason: { about: 'why they are paid, as payment_for_goods; needed with an account' },
};

/** The fields of one payment, under their API names. */
const PAYMENT_FIELDS: Fields = {
  beneficiary_id: { about: 'who is paid' },
  account_id: { about: 'its bank account', as: 'integer' },
  amount: { about: 'how much', as: 'number' },
  payment_date: { about: 'when, YYYY-MM-DD' },
  reference: { about: 'what the payee reads, 3 to 140 characters' },
  charges: { about: 'who pays them: SHA by default', choices: ['SHA', 'OUR'] },
  purpose_of_payment: { about: "the beneficiary's by default" },
  email_beneficiary: { about: 'the institution tells the payee', as: 'flag' },
};

const COLUMNS: Column<CreatedPayment>[] = [
  ['PAYMENT', ({ payment_id: id }) => id],
  ['AMOUNT', (payment) => decimal(payment, 'amount')],
  ['CURRENCY', ({ payment_currency: currency }) => currency],
  ['DATE', ({ payment_date: date }) => date],
  ['STATUS', ({ status }) => status],
  ['BENEFICIARY', ({ beneficiary_id: id }) => id],
  ['TRADE', ({ trade_id: id }) => id],
];

const WAITING = 'Payment pending of authorization';
const KEY_BYTES = 16;

/** `lombard payments create`. */
export function addCreate(frame: Frame, payments: Command): void {
  const fields = { ...ORDER_FIELDS, ...PAYMENT_FIELDS };
  const command = payments.command('create').description('order a payment; several need --file');
  withCode(withTrial(withKey(withBody(command, fields))));
  example(
    command,
    'payments create --funding-account-id 1000004 --reason payment_for_goods --beneficiary-id BEN000001 ' +
      '--amount 1250.50 --payment-date 2026-12-01 --reference "Invoice 42" --idempotency-key invoice-42',
    'payments create --file order.json',
  );
  frame.asContact<BodyOptions & CodeOptions>(command, async ({ options, session, print }) => {
    // This reads the options again for each order, because a copy of the amount would lose its digits.
    const order = () => ({ ...fieldsGiven(ORDER_FIELDS, options), payments: [fieldsGiven(PAYMENT_FIELDS, options)] });
    const body = (await bodyGiven(fields, options, order)) as NewPayments;
    const idempotencyKey = options.idempotencyKey ?? keyOf(session, options);
    const { validateOnly } = options;
    const made = await session.lombard.payments.create(body, { idempotencyKey, validateOnly });
    print.rows(made, COLUMNS);
    for (const { warning } of made) if (warning !== null) print.note(warning);
    if (!validateOnly) await approveOwn(session, made, { ...options, remember: idempotencyKey });
  });
}

/**
 * The key of an order. A call that answers a challenge repeats the order, with the same key.
 * @throws CommandFailure if no order of this person is known to have opened the challenge
 */
function keyOf(session: Session, { challengeId, verificationCode }: CodeOptions): string {
  if (challengeId === undefined) {
    // Without the challenge it would be a new order with the code of an earlier one.
    if (verificationCode !== undefined) throw new CommandFailure('--verification-code: needs --challenge-id', USAGE);
    return randomBytes(KEY_BYTES).toString('hex');
  }
  const known = recall(session, challengeId);
  if (known !== undefined) return known;
  const how = 'give the --idempotency-key of the order, or approve its payments (lombard payments approve)';
  throw new CommandFailure(`--challenge-id: is not known to be of an order that was made here; ${how}`, USAGE);
}

/** Approves the payments that wait only for their creator, who has to use a second factor. */
async function approveOwn(
  session: Session,
  made: readonly CreatedPayment[],
  options: CodeOptions & { remember: string },
): Promise<void> {
  const own: string[] = [];
  for (const { payment_id: id, status } of made) {
    if (id === null || status !== WAITING) continue;
    const { next, creator } = await session.lombard.payments.approvals(id);
    const others = next.filter(({ contact_id: contact }) => contact !== creator.contact_id);
    if (next.length > 0 && others.length === 0) own.push(id);
  }
  if (own.length === 0) return;
  const refused = (await approve(session, own, options)).find(({ done }) => !done);
  if (refused) throw new CommandFailure(`${refused.payment_id}: ${refused.code}: ${refused.details}`);
}
