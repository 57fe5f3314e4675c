import type { Command } from 'commander';
import { type Decided, decimal, type Payment, type PaymentQuery } from '../../sdk/src/index.ts';
import { AMOUNT_RANGES, ORDER_FIELDS, ORDERS, STATUS_FILTERS } from '../payments/search/search-parameters.ts';
import { namesOf } from '../values/unknown.ts';
import { type Fields, fieldsGiven, PAGING, printPage, withFields } from './fields.ts';
import { example, type Frame } from './frame.ts';
import { addCreate } from './payment-orders.ts';
import type { Column, Printer } from './printer.ts';
import { approve, type CodeOptions, withCode } from './step-up.ts';
import { addUpload } from './upload.ts';

/** The parameters of the search, under their API names. */
const PARAMETERS: Fields<keyof PaymentQuery> = {
  status: { about: 'where they stand', choices: STATUS_FILTERS },
  payment_ids: { about: 'ids, comma separated' },
  payment_currency: { about: 'currencies, comma separated' },
  amount: { about: 'a whole amount; needs --amount-range', as: 'integer' },
  amount_range: { about: 'needs --amount', choices: AMOUNT_RANGES },
  reference: { about: 'the whole reference' },
  trade_id: { about: 'trade' },
  beneficiary_id: { about: 'beneficiary' },
  mass_payment_id: { about: 'UUID of the mass payment' },
  mass_payment_external_reference_id: { about: 'external reference of the mass payment' },
  from_payment_date: { about: 'first payment date, YYYY-MM-DD' },
  to_payment_date: { about: 'last payment date' },
  from_created_date: { about: 'first day of creation' },
  to_created_date: { about: 'last day of creation' },
  order: { about: 'asc by default', choices: ORDERS },
  order_by: { about: 'order_date by default', choices: ORDER_FIELDS },
  ...PAGING,
};

const COLUMNS: Column<Payment>[] = [
  ['PAYMENT', (payment) => payment.payment_id],
  ['AMOUNT', (payment) => decimal(payment, 'amount')],
  ['CURRENCY', (payment) => payment.payment_currency],
  ['DATE', (payment) => payment.payment_date],
  ['STATUS', (payment) => payment.status],
  ['BENEFICIARY', (payment) => payment.beneficiary_name],
  ['REFERENCE', (payment) => payment.reference],
];

const DECIDED_COLUMNS: Column<Decided>[] = [
  ['PAYMENT', (payment) => payment.payment_id],
  ['APPROVED', ({ done }) => (done ? 'yes' : 'no')],
  ['CODE', ({ code }) => code],
  ['DETAILS', ({ details }) => details],
];

/** `lombard payments`. */
export function paymentCommands(frame: Frame): void {
  const payments = frame.program.command('payments').description('search, order, approve, reject and cancel payments');
  addList(frame, payments);
  frame.asContact(
    example(payments.command('show <id>').description('show one payment'), 'payments show PAY000001'),
    async ({ args: [id = ''], session, print }) => print.record(await session.lombard.payments.get(id)),
  );
  addCreate(frame, payments);
  addApprove(frame, payments);
  const refusals = {
    reject: ['reject a payment that waits for authorization', 'rejected', 'Wrong account'],
    cancel: ['cancel a payment that has not been sent', 'cancelled', 'Ordered twice'],
  } as const;
  for (const name of namesOf(refusals)) {
    const [description, done, reason] = refusals[name];
    const command = withReason(payments.command(`${name} <id>`).description(description));
    example(command, `payments ${name} PAY000001 --reason "${reason}"`);
    frame.asContact<Reason>(command, async ({ args: [id = ''], options: { reason }, session, print }) => {
      await session.lombard.payments[name](id, { reason });
      print.done(`${id} is ${done}`, { payment_id: id, done });
    });
  }
  addUpload(frame, payments);
  addMultipayments(frame);
}

function addApprove(frame: Frame, payments: Command): void {
  const command = withCode(
    withReason(payments.command('approve <ids...>').description('approve payments that wait for authorization')),
  );
  example(
    command,
    'payments approve PAY000001',
    'payments approve PAY000001 PAY000002 --verification-code 123456',
    'payments approve PAY000001 --challenge-id 3f0c... --verification-code 123456',
  );
  frame.asContact<Reason & CodeOptions>(command, async ({ args: [given], options, session, print }) => {
    const ids = [given ?? []].flat();
    const decided = await approve(session, ids, options);
    const [only = ''] = ids;
    if (ids.length > 1) return printDecided(print, decided);
    print.done(`${only} is approved`, { payment_id: only, done: 'approved' });
    return 0;
  });
}

/** @returns the exit status: 1 if one of them was refused */
function printDecided(print: Printer, decided: readonly Decided[]): 0 | 1 {
  print.rows(decided, DECIDED_COLUMNS);
  return decided.every(({ done }) => done) ? 0 : 1;
}

/** `lombard multipayments`. */
function addMultipayments(frame: Frame): void {
  const group = frame.program.command('multipayments').description('payments that were ordered together');
  const reject = withReason(
    group.command('reject <id>').description('reject the trades of a multi payment and cancel its payments'),
  );
  example(reject, 'multipayments reject MUL000001 --reason "Ordered twice"');
  frame.asContact<Reason>(reject, async ({ args: [id = ''], options: { reason }, session, print }) => {
    await session.lombard.multipayments.reject(id, { reason });
    print.done(`${id} is rejected`, { multipayment_id: id, done: 'rejected' });
  });
}

interface Reason {
  reason?: string;
}

function withReason(command: Command): Command {
  return command.option('--reason <text>', 'why: the payment, its timeline and the audit trail show it');
}

function addList(frame: Frame, payments: Command): void {
  const list = payments.command('list').description('search payments; the options are the parameters of the search');
  withFields(list, PARAMETERS);
  example(list, 'payments list --status pending --order desc --page-size 10', 'payments list --json | jq length');
  frame.asContact(list, async ({ options, session, print }) => {
    // The command has checked closed lists, and the service checks the rest.
    const query = fieldsGiven(PARAMETERS, options) as PaymentQuery;
    await printPage(print, session.lombard.payments.search(query), query, COLUMNS, 'payments');
  });
}
