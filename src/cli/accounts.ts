import { Argument, type Command, Option } from 'commander';
import type {
  Balance,
  DocumentType,
  StatementFormat,
  StatementPeriod,
  StatementRequest,
  Transaction,
  TransactionQuery,
} from '../../sdk/src/index.ts';
import { isOneOf } from '../values/unknown.ts';
import {
  type BodyOptions,
  bodyGiven,
  type Fields,
  fieldsGiven,
  PAGING,
  printPage,
  withBody,
  withFields,
} from './fields.ts';
import { type Call, example, type Frame } from './frame.ts';
import type { Column, Printer } from './printer.ts';
import { writeResult } from './result-file.ts';
import type { Session } from './session.ts';

const DOCUMENT_TYPES: readonly DocumentType[] = ['pi', 'pr', 'tr'];

type RequestOptions = { dateFrom: string; dateTo: string } & Pick<
  StatementRequest,
  'format' | 'currencies' | 'delivery'
>;

/** The kinds of balances, under their API names. */
const BALANCE_FIELDS: Fields = {
  currencies: { about: 'comma separated; all by default' },
  balance_types: { about: 'InterimAvailable (booked), Available (less what is held), RequiredFunds; all by default' },
};
const BALANCE_COLUMNS: Column<Balance>[] = [
  ['ACCOUNT', ({ account_id: id }) => id],
  ['CURRENCY', ({ amount }) => amount.currency],
  ['TYPE', ({ type }) => type],
  ['AMOUNT', ({ amount }) => amount.amount],
  ['SIDE', ({ credit_debit_indicator: side }) => side],
];

/** The filters of the transactions, under their API names. */
const TRANSACTION_FIELDS: Fields<keyof TransactionQuery> = {
  currencies: { about: 'as the argument' },
  credit_debit_indicator: { about: 'one side only', choices: ['Credit', 'Debit'] },
  transaction_type: { about: 'of one kind', choices: ['credit', 'debit', 'incoming', 'margin', 'payment_returned'] },
  from_value_datetime: { about: 'from this moment on, as 2026-11-01T00:00:00Z' },
  to_value_datetime: { about: 'before this moment' },
  order: { about: 'which end first', choices: ['asc', 'desc'] },
  ...PAGING,
};
const TRANSACTION_COLUMNS: Column<Transaction>[] = [
  ['VALUE', ({ value_datetime: moment }) => moment],
  ['TYPE', ({ transaction_type: type }) => type],
  ['SIDE', ({ credit_debit_indicator: side }) => side],
  ['AMOUNT', ({ amount }) => amount.amount],
  ['CURRENCY', ({ amount }) => amount.currency],
  ['PAYMENT', ({ payment_id: id }) => id],
  ['REFERENCE', ({ transaction_reference: reference }) => reference],
  ['TRANSACTION', ({ transaction_id: id }) => id],
];

/** The period of a statement, under its API names. */
const PERIOD_FIELDS: Fields<keyof StatementPeriod> = {
  from_value_datetime: { about: 'from the London day of this moment on, as 2026-10-01T00:00:00Z' },
  to_value_datetime: { about: 'to the London day of this moment; now by default' },
};
const STATEMENT_FORMATS: readonly StatementFormat[] = ['pdf', 'csv', 'camt053'];

/** `lombard accounts`, `balances`, `transactions`, `statements` and `documents`. */
export function accountCommands(frame: Frame): void {
  const accounts = frame.program.command('accounts').description('list the currency accounts');
  frame.asContact(example(accounts, 'accounts'), async ({ session, print }) =>
    print.rows(await session.lombard.accounts.list(), [
      ['ACCOUNT', ({ account_id }) => account_id],
      ['CURRENCY', ({ currency }) => currency],
    ]),
  );

  addMoney(frame);
  const statements = frame.program.command('statements').description('account statements');
  const request = statements
    .command('request')
    .description('request a statement, which is sent to you')
    .requiredOption('--date-from <day>', 'first day, YYYY-MM-DD')
    .requiredOption('--date-to <day>', 'last day, included')
    .addOption(new Option('--format <format>', 'pdf by default').choices(['pdf', 'csv', 'camt.053']))
    .option('--currencies <list>', 'comma separated; all by default')
    .addOption(new Option('--delivery <way>', 'email by default').choices(['email', 'push', 'both']));
  example(request, 'statements request --date-from 2026-10-01 --date-to 2026-10-31 --format csv --currencies EUR,USD');
  frame.asContact<RequestOptions>(request, async ({ options, session, print }) => {
    const { dateFrom, dateTo, ...others } = options;
    const { id, message } = await asked(session, { date_from: dateFrom, date_to: dateTo, ...others });
    print.done(`${message}\n${id}  (lombard statements show ${id} says what became of it)`, { id, message });
  });
  const show = statements.command('show <id>').description('show what became of a request');
  frame.asContact(example(show, 'statements show 5f0c...'), async ({ args: [id = ''], session, print }) =>
    print.record(await session.lombard.statements.get(id)),
  );
  addDownload(frame, statements);
  addDocuments(frame);
}

/** `lombard balances` and `transactions`. */
function addMoney(frame: Frame): void {
  const balances = frame.program.command('balances').description('show what the currency accounts hold');
  frame.asContact(
    example(withFields(balances, BALANCE_FIELDS), 'balances', 'balances --balance-types Available'),
    async ({ options, session, print }) =>
      print.rows(await session.lombard.balances.list(fieldsGiven(BALANCE_FIELDS, options)), BALANCE_COLUMNS),
  );
  const transactions = frame.program
    .command('transactions [currencies]')
    .description('list what was booked in these currencies, comma separated; in all of them by default');
  example(withFields(transactions, TRANSACTION_FIELDS), 'transactions EUR', 'transactions EUR,USD --page-size 10');
  frame.asContact(transactions, async ({ args: [named], options, session: { lombard }, print }) => {
    const given = fieldsGiven(TRANSACTION_FIELDS, options);
    const all = async () => (await lombard.accounts.list()).map(({ currency }) => currency).join(',');
    const query = { ...given, currencies: named ?? given.currencies ?? (await all()) } as TransactionQuery;
    await printPage(print, lombard.transactions.list(query), query, TRANSACTION_COLUMNS, 'transactions');
  });
}

function addDownload(frame: Frame, statements: Command): void {
  const download = statements
    .command('download <account>')
    .description('save the statement of a currency account, or of the account with a UUID')
    .addOption(new Option('--format <format>', 'pdf by default').choices(STATEMENT_FORMATS))
    .option('--output <file>', 'where to save it; - writes to standard output (default: statement-<account>.<format>)');
  example(
    withBody(download, PERIOD_FIELDS),
    'statements download 1000004 --from-value-datetime 2026-10-01T00:00:00Z --output october.pdf',
  );
  type Options = BodyOptions & { format?: StatementFormat; output?: string };
  frame.asContact(download, async ({ args: [account = ''], options, session, print }: Signed<Options>) => {
    const period = (await bodyGiven(PERIOD_FIELDS, options)) as StatementPeriod;
    const { format = 'pdf', output: file = `statement-${account}.${format}` } = options;
    await save(file, await session.lombard.accounts.statement(account, period, { format }), print);
  });
}

/** A call by a contact who is signed in. */
type Signed<O extends object> = Call<O & Record<string, string | boolean | undefined>> & { session: Session };

/** Saves a file, and reports it. */
async function save(file: string, bytes: Uint8Array, print: Printer): Promise<void> {
  await writeResult(file, bytes);
  if (file !== '-') print.done(`saved ${file} (${bytes.length} bytes)`, { file, bytes: bytes.length });
}

/** Requests a statement. Returns the id of the request, and the service's message. */
async function asked({ lombard }: Session, body: StatementRequest): Promise<{ id: string; message: string }> {
  const { body: message, headers } = await lombard.call('POST /statements/accounts', { body });
  return { id: new URL(headers.get('location') ?? '').pathname.split('/').at(-1) ?? '', message };
}

function addDocuments(frame: Frame): void {
  const documents = frame.program.command('documents').description('payment instructions and receipts, as PDF');
  const get = documents
    .command('get')
    .addArgument(new Argument('<type>', 'payment instruction, payment receipt, trade receipt').choices(DOCUMENT_TYPES))
    .argument('<id>', 'of the payment or trade')
    .description('save a document: pi (payment instruction), pr (payment receipt), tr (trade receipt)')
    .option('--output <file>', 'where to save it; - writes to standard output (default: <type>-<id>.pdf)');
  example(get, 'documents get pi PAY000001', 'documents get tr TRD000001 --output - | lp');
  frame.asContact<{ output?: string }>(get, async ({ args: [type, id = ''], options, session, print }) => {
    if (!isOneOf(DOCUMENT_TYPES, type)) return;
    const bytes = await session.lombard.documents.get(type, id);
    const { output: file = `${type}-${id}.pdf` } = options;
    await save(file, bytes, print);
  });
}
