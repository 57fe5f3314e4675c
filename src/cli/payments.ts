import { type Command, InvalidArgumentError, Option } from 'commander';
import { decimal, type Payment, type PaymentQuery } from '../../sdk/src/index.ts';
import { AMOUNT_RANGES, ORDER_FIELDS, ORDERS, STATUS_FILTERS } from '../payments/search/search-parameters.ts';
import { namesOf } from '../values/unknown.ts';
import { example, type Frame } from './frame.ts';
import type { Column } from './printer.ts';
import { approve } from './step-up.ts';

/** The parameters of the search, as on the wire, and what each takes. */
const PARAMETERS: Record<keyof PaymentQuery, string> = {
  status: 'where they stand',
  payment_ids: 'ids, comma separated',
  payment_currency: 'currencies, comma separated',
  amount: 'a whole amount; needs --amount-range',
  amount_range: 'needs --amount',
  reference: 'the whole reference',
  trade_id: 'trade',
  beneficiary_id: 'beneficiary',
  mass_payment_id: 'UUID of the mass payment',
  mass_payment_external_reference_id: 'external reference of the mass payment',
  from_payment_date: 'first payment date, YYYY-MM-DD',
  to_payment_date: 'last payment date',
  from_created_date: 'first day of creation',
  to_created_date: 'last day of creation',
  order: 'asc by default',
  order_by: 'order_date by default',
  page: 'page, from 1',
  page_size: 'payments on a page, 1 to 1000 (50)',
};
/** Parameters that take one of a closed list. */
const CHOICES: Partial<Record<keyof PaymentQuery, readonly string[]>> = {
  status: STATUS_FILTERS,
  amount_range: AMOUNT_RANGES,
  order: ORDERS,
  order_by: ORDER_FIELDS,
};
const NUMBERS: ReadonlySet<string> = new Set(['amount', 'page', 'page_size']);
const DEFAULT_PAGE_ROWS = 50;

const COLUMNS: Column<Payment>[] = [
  ['PAYMENT', (payment) => payment.payment_id],
  ['AMOUNT', (payment) => decimal(payment, 'amount')],
  ['CURRENCY', (payment) => payment.payment_currency],
  ['DATE', (payment) => payment.payment_date],
  ['STATUS', (payment) => payment.status],
  ['BENEFICIARY', (payment) => payment.beneficiary_name],
  ['REFERENCE', (payment) => payment.reference],
];

/** `lombard payments`. */
export function paymentCommands(frame: Frame): void {
  const payments = frame.program.command('payments').description('search, read, approve, reject and cancel payments');
  addList(frame, payments);
  frame.asContact(
    example(payments.command('show <id>').description('show one payment'), 'payments show PAY000001'),
    async ({ args: [id = ''], session, print }) => print.record(await session.lombard.payments.get(id)),
  );
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
  addMultipayments(frame);
}

function addApprove(frame: Frame, payments: Command): void {
  const command = withReason(
    payments.command('approve <id>').description('approve a payment that waits for authorization'),
  ).option('--verification-code <code>', 'where the client asks for one; a terminal is asked for it');
  example(command, 'payments approve PAY000001', 'payments approve PAY000001 --verification-code 123456');
  frame.asContact<Reason & { verificationCode?: string }>(
    command,
    async ({ args: [id = ''], options, session, print }) => {
      await approve(session, id, { reason: options.reason, code: options.verificationCode });
      print.done(`${id} is approved`, { payment_id: id, done: 'approved' });
    },
  );
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

function wholeNumber(value: string): string {
  if (!/^-?\d+$/.test(value)) throw new InvalidArgumentError('must be a whole number');
  return value;
}

function addList(frame: Frame, payments: Command): void {
  const list = payments.command('list').description('search payments; the options are the parameters of the search');
  for (const name of namesOf(PARAMETERS)) {
    const option = new Option(`--${name.replaceAll('_', '-')} <value>`, PARAMETERS[name]);
    const choices = CHOICES[name];
    if (choices) option.choices(choices);
    if (NUMBERS.has(name)) option.argParser(wholeNumber);
    list.addOption(option);
  }
  example(list, 'payments list --status pending --order desc --page-size 10', 'payments list --json | jq length');
  frame.asContact(list, async ({ options, session, print }) => {
    const query: Record<string, unknown> = {};
    for (const name of Object.keys(PARAMETERS)) {
      const value = options[name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())];
      if (value !== undefined) query[name] = NUMBERS.has(name) ? Number(value) : value;
    }
    const [page, size] = [Number(query.page ?? 1), Number(query.page_size ?? DEFAULT_PAGE_ROWS)];
    // The command has checked what is closed, and the service checks the rest.
    const { items, total } = await session.lombard.payments.search(query as PaymentQuery).page(page);
    const shown = (page - 1) * size + items.length;
    const more = shown < total ? `; the next page: --page ${page + 1}` : '';
    print.rows(items, COLUMNS, { after: `${items.length} of ${total} payments${more}` });
  });
}
