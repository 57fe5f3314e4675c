import type { InvalidInstruction, MassPayment, MassPaymentQuery } from '../../sdk/src/index.ts';
import { decimal } from '../../sdk/src/index.ts';
import { MASS_STATUSES } from '../orders/mass/declaration.ts';
import { type Fields, fieldsGiven, PAGING, printPage, withFields } from './fields.ts';
import { example, type Frame } from './frame.ts';
import type { Column } from './printer.ts';

/** The filters of the list, under their API names. */
const FILTERS: Fields<keyof MassPaymentQuery> = {
  mass_payment_id: { about: 'its UUID' },
  external_reference_id: { about: 'your own identifier' },
  mass_payment_status: { about: 'how far it is', choices: MASS_STATUSES },
  ...PAGING,
};

const COLUMNS: Column<MassPayment>[] = [
  ['FILE', ({ mass_payment_id: id }) => id],
  ['REFERENCE', ({ external_reference_id: reference }) => reference],
  ['STATUS', ({ mass_payment_status: status }) => status],
  ['ROWS', ({ payments_summary: { payments_received: received } }) => received],
  ['WRONG', ({ payments_summary: { payments_errored: errored } }) => errored],
  ['PAID', ({ payments_summary: { payments_created: created } }) => created],
  ['SELL', (file) => (file.sell_amount === null ? null : decimal(file, 'sell_amount'))],
  ['', ({ sell_currency: currency }) => currency],
];

/** Rows of a file count from 0, as in the API. */
const ERROR_COLUMNS: Column<InvalidInstruction>[] = [
  ['ROW', ({ request_index: index }) => index],
  ['CODE', ({ errors }) => errors.map(({ code }) => code).join(', ')],
  ['DETAILS', ({ errors }) => errors.map(({ details }) => details).join('; ')],
];

/** `lombard files`. */
export function fileCommands(frame: Frame): void {
  const group = frame.program.command('files').description('files of payments');
  const list = withFields(
    group.command('list').description('list the files, the newest first; the options are filters'),
    FILTERS,
  );
  frame.asContact(
    example(list, 'files list --mass-payment-status Processed'),
    async ({ options, session: { lombard }, print }) => {
      const query = fieldsGiven(FILTERS, options) as MassPaymentQuery;
      await printPage(print, lombard.massPayments.list(query), query, COLUMNS, 'files');
    },
  );
  const show = group.command('show <id>').description('show how far a file is');
  frame.asContact(
    example(show, 'files show c56a4180-65aa-42ec-a945-5fd21dec0538'),
    async ({ args: [id = ''], session, print }) => print.record(await session.lombard.massPayments.get(id)),
  );
  const errors = withFields(group.command('errors <id>').description('list the rows that cannot be done'), PAGING);
  frame.asContact(
    example(errors, 'files errors c56a4180-65aa-42ec-a945-5fd21dec0538'),
    async ({ args: [id = ''], options, session: { lombard }, print }) => {
      const query = fieldsGiven(PAGING, options) as { page?: number; page_size?: number };
      await printPage(print, lombard.massPayments.errors(id, query), query, ERROR_COLUMNS, 'rows with errors');
    },
  );
}
