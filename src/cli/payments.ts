import { type Command, InvalidArgumentError } from 'commander';
import { decimal, type Payment, type PaymentQuery } from '../../sdk/src/index.ts';
import { example, type Frame } from './frame.ts';
import type { Column } from './printer.ts';

/** The parameters of the search, as on the wire, and what each takes. */
const PARAMETERS: Record<keyof PaymentQuery, string> = {
  status: 'pending, pending_to_authorise, authorised, cancelled, rejected, complete, pending_your_approval, ...',
  payment_ids: 'ids, comma separated',
  payment_currency: 'currencies, comma separated',
  amount: 'a whole amount; needs --amount-range',
  amount_range: 'over, below or equal; needs --amount',
  reference: 'the whole reference',
  trade_id: 'trade',
  beneficiary_id: 'beneficiary',
  mass_payment_id: 'UUID of the mass payment',
  mass_payment_external_reference_id: 'external reference of the mass payment',
  from_payment_date: 'first payment date, YYYY-MM-DD',
  to_payment_date: 'last payment date',
  from_created_date: 'first day of creation',
  to_created_date: 'last day of creation',
  order: 'asc or desc',
  order_by: 'order_date or value_date',
  page: 'page, from 1',
  page_size: 'payments on a page, 1 to 1000 (50)',
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
    async ({ args, session, print }) => print.record(await session.lombard.payments.get(args[0] as string)),
  );
  const decisions = {
    approve: ['authorise', 'approve a payment that waits for authorization', 'approved'],
    reject: ['reject', 'reject a payment that waits for authorization', 'rejected'],
    cancel: ['cancel', 'cancel a payment that has not been sent', 'cancelled'],
  } as const;
  for (const [name, [method, description, done]] of Object.entries(decisions)) {
    frame.asContact(
      example(payments.command(`${name} <id>`).description(description), `payments ${name} PAY000001`),
      async ({ args, session, print }) => {
        const id = args[0] as string;
        await session.lombard.payments[method](id);
        print.done(`${id} is ${done}`, { payment_id: id, done });
      },
    );
  }
}

function addList(frame: Frame, payments: Command): void {
  const list = payments.command('list').description('search payments; the options are the parameters of the search');
  for (const [name, takes] of Object.entries(PARAMETERS)) {
    list.option(`--${name.replaceAll('_', '-')} <value>`, takes, (value) => {
      if (NUMBERS.has(name) && !/^-?\d+$/.test(value)) throw new InvalidArgumentError('must be a whole number');
      return value;
    });
  }
  example(list, 'payments list --status pending --order desc --page-size 10', 'payments list --json | jq length');
  frame.asContact(list, async ({ options, session, print }) => {
    const query: Record<string, unknown> = {};
    for (const name of Object.keys(PARAMETERS)) {
      const value = options[name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())];
      if (value !== undefined) query[name] = NUMBERS.has(name) ? Number(value) : value;
    }
    const { page = 1, page_size: size = DEFAULT_PAGE_ROWS } = query as { page?: number; page_size?: number };
    const { items, total } = await session.lombard.payments.search(query as PaymentQuery).page(page);
    const shown = (page - 1) * size + items.length;
    const more = shown < total ? `; the next page: --page ${page + 1}` : '';
    print.rows(items, COLUMNS, { after: `${items.length} of ${total} payments${more}` });
  });
}
