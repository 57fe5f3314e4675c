import { Argument, Option } from 'commander';
import type { DocumentType, StatementRequest } from '../../sdk/src/index.ts';
import { isOneOf } from '../values/unknown.ts';
import { example, type Frame } from './frame.ts';
import { writeResult } from './result-file.ts';
import type { Session } from './session.ts';

const DOCUMENT_TYPES: readonly DocumentType[] = ['pi', 'pr', 'tr'];

type RequestOptions = { dateFrom: string; dateTo: string } & Pick<
  StatementRequest,
  'format' | 'currencies' | 'delivery'
>;

/** `lombard accounts`, `statements` and `documents`. */
export function accountCommands(frame: Frame): void {
  const accounts = frame.program.command('accounts').description('list the currency accounts');
  frame.asContact(example(accounts, 'accounts'), async ({ session, print }) =>
    print.rows(await session.lombard.accounts.list(), [
      ['ACCOUNT', ({ account_id }) => account_id],
      ['CURRENCY', ({ currency }) => currency],
    ]),
  );

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
  addDocuments(frame);
}

/** Requests a statement. Gives the id of the request, and the service's sentence. */
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
    await writeResult(file, bytes);
    if (file !== '-') print.done(`saved ${file} (${bytes.length} bytes)`, { file, bytes: bytes.length });
  });
}
