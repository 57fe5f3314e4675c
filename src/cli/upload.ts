import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import {
  LombardError,
  type MassPayment,
  type MassPaymentConfirmation,
  type MassPaymentFileQuery,
  type NewMassPayment,
} from '../../sdk/src/index.ts';
import { REASONS } from '../values/reasons.ts';
import { CommandFailure, USAGE } from './failure.ts';
import { type Fields, fieldsGiven, withFields } from './fields.ts';
import { example, type Frame } from './frame.ts';
import type { Printer } from './printer.ts';
import { jsonOf, readBytes } from './result-file.ts';
import type { Session } from './session.ts';
import { readReport } from './status-report.ts';
import { asked, type CodeOptions, recall, unless, withCode } from './step-up.ts';

/** The fields of a file besides its instructions, under their API names. */
const ORDER_FIELDS: Fields<keyof MassPaymentFileQuery> = {
  external_reference_id: { about: 'your own identifier of the file; made of its content by default' },
  auto_commit: { about: 'it goes on by itself where no row is bad', as: 'flag' },
  sell_currency: { about: 'currency that is sold, as GBP' },
  trade_id: { about: 'the trade that all are paid from' },
  funding_account_id: { about: 'number of the currency account that pays', as: 'integer' },
  reason: { about: 'why, as payment_for_goods; needed with an account', choices: REASONS },
  maximum_sell_amount: { about: 'what the exchanges may cost', as: 'number' },
};

/** Milliseconds between two checks. */
const LOOK_MS = 300;
/** The number of checks of a file that goes on by itself and is still Processed. After that many, it must be waiting for its maker's code. */
const PROCEEDING_LOOKS = 20;
const ENDED: readonly string[] = ['Created', 'Cancelled', 'Failed'];
/** The number of hexadecimal digits of the content's hash that identify a file. */
const HASH_DIGITS = 32;

interface Options extends CodeOptions {
  confirm?: boolean;
  wait?: boolean;
}

/** `lombard payments upload`. */
export function addUpload(frame: Frame, payments: Command): void {
  const command = payments
    .command('upload <file>')
    .description('send a file of payments: CSV, JSON or pain.001, told apart by its content; - reads standard input');
  withCode(withFields(command, ORDER_FIELDS))
    .option('--confirm', 'wait until its rows are judged, and confirm it')
    .option('--wait', 'wait until it has ended, or waits for a confirmation');
  example(
    command,
    'payments upload suppliers.csv --sell-currency GBP --confirm --wait',
    'payments upload salaries.json',
    'payments upload pain001.xml --wait',
  );
  frame.asContact<Options>(command, async ({ args: [file = ''], options, session, print }) => {
    const { challengeId, verificationCode } = options;
    if (challengeId !== undefined && verificationCode === undefined)
      throw new CommandFailure('--challenge-id: needs --verification-code', USAGE);
    if (challengeId !== undefined) return finish(session, print, options, challengeId);
    const content = await readBytes(file);
    const text = content
      .toString('utf8')
      .replace(/^\ufeff/, '')
      .trimStart();
    if (text.startsWith('<')) return sendInitiation(session, print, options, content);
    const isJson = /^[[{]/.test(text);
    const order = isJson ? bodyOf(file, text, content, options) : queryOf(content, options);
    const taken = isJson
      ? await session.lombard.massPayments.create(order as NewMassPayment)
      : await session.lombard.massPayments.createFromFile(content, order as MassPaymentFileQuery);
    if (!options.confirm && !options.wait) {
      print.done(`sent ${taken.external_reference_id}: files show ${taken.mass_payment_id}`, taken);
      return 0;
    }
    return follow(session, print, options, { id: taken.mass_payment_id, proceeds: order.auto_commit === true });
  });
}

/**
 * The fields besides the instructions. If the file has no reference, it is the content's hash, so that the file is not sent twice. It is
 * built as one object, because a copy would lose the digits of its amount.
 */
function queryOf(content: Uint8Array, options: object): MassPaymentFileQuery {
  const given = fieldsGiven(ORDER_FIELDS, options);
  const hash = createHash('sha256').update(content).digest('hex').slice(0, HASH_DIGITS);
  given.external_reference_id ??= `sha256:${hash}`;
  given.auto_commit ??= false;
  return given as MassPaymentFileQuery;
}

/** The body from a JSON file, which contains all fields, or only the list of instructions. @throws CommandFailure */
function bodyOf(file: string, text: string, content: Uint8Array, options: object): NewMassPayment {
  const value = jsonOf(file, text);
  if (Array.isArray(value))
    return Object.assign(queryOf(content, options), { payment_instructions: value }) as NewMassPayment;
  const [name] = Object.keys(fieldsGiven(ORDER_FIELDS, options));
  if (name !== undefined)
    throw new CommandFailure(
      `--${name}: the file has the whole body; give a list of instructions, or no option`,
      USAGE,
    );
  return value as NewMassPayment;
}

/** Confirms a file with its code, in the call after the one that sent the file. */
async function finish(session: Session, print: Printer, options: Options, challengeId: string): Promise<0 | 1> {
  const id = recall(session, challengeId);
  if (id === undefined)
    throw new CommandFailure('--challenge-id: is not known to be of a file that was sent from here', USAGE);
  const before = await session.lombard.massPayments.get(id);
  const code = { challenge_id: challengeId, verification_code: options.verificationCode };
  await session.lombard.massPayments.confirm(id, confirmationOf(options, code));
  return ended(session, print, options, id, before);
}

/** The body of a confirmation. @param code its challenge and code, if there are any */
function confirmationOf(options: object, code: object = {}): MassPaymentConfirmation {
  const given = fieldsGiven({ maximum_sell_amount: ORDER_FIELDS.maximum_sell_amount }, options);
  return Object.assign(given, code) as MassPaymentConfirmation;
}

/** Waits until a file has been judged, confirms it if requested, and waits for its end. @returns the exit status */
async function follow(
  session: Session,
  print: Printer,
  options: Options,
  { id, proceeds }: { id: string; proceeds: boolean },
): Promise<0 | 1> {
  const judged = await reached(session, id, (file, looks) => isResting(file, proceeds, looks));
  if (judged.mass_payment_status !== 'Processed' || !options.confirm) return report(print, judged, 0);
  await confirm(session, id, options);
  return ended(session, print, options, id, judged);
}

/** After a confirmation: waits for the end if requested. */
async function ended(
  session: Session,
  print: Printer,
  options: Options,
  id: string,
  { payments_summary: { payments_errored: accepted } }: MassPayment,
): Promise<0 | 1> {
  if (!options.wait) return report(print, await session.lombard.massPayments.get(id), accepted);
  const last = await reached(
    session,
    id,
    ({ mass_payment_status: status, error }) => ENDED.includes(status) || (status === 'Processed' && error !== null),
  );
  return report(print, last, accepted);
}

/**
 * Whether nothing more happens by itself.
 * @param proceeds whether it goes on by itself if no row is bad
 * @param looks how often it has been in this state
 */
function isResting(file: MassPayment, proceeds: boolean, looks: number): boolean {
  const { mass_payment_status: status, payment_initiation_id: initiation, error } = file;
  if (status !== 'Processed') return ENDED.includes(status);
  const goesOn = initiation !== null || (proceeds && file.payments_summary.payments_errored === 0);
  return !goesOn || error !== null || looks > PROCEEDING_LOOKS;
}

/** Reads a file until it is in the wanted state. Progress is shown on standard error. */
async function reached(
  { lombard }: Session,
  id: string,
  isThere: (file: MassPayment, looks: number) => boolean,
): Promise<MassPayment> {
  let [told, looks] = ['', 0];
  for (;;) {
    const file = await lombard.massPayments.get(id);
    const line = progressOf(file);
    if (line !== told) {
      process.stderr.write(`${line}\n`);
      [told, looks] = [line, 0];
    }
    if (isThere(file, looks)) return file;
    looks += 1;
    await sleep(LOOK_MS);
  }
}

function progressOf({
  external_reference_id: reference,
  mass_payment_status: status,
  payments_summary: of,
}: MassPayment) {
  const { payments_received: rows, payments_processed: judged, payments_errored: wrong, payments_created: made } = of;
  return `${reference}: ${status}, ${judged} of ${rows} rows judged, ${wrong} wrong, ${made} paid`;
}

async function confirm(session: Session, id: string, options: Options): Promise<void> {
  const { lombard } = session;
  const answer = (challengeId: string, code: string) =>
    lombard.massPayments.confirm(id, confirmationOf(options, { challenge_id: challengeId, verification_code: code }));
  if (await unless('step_up_required', () => lombard.massPayments.confirm(id, confirmationOf(options)))) return;
  const operation = 'POST /mass-payments/{mass_payment_id}/challenges';
  const { body: opened } = await lombard.call(operation, { path: { mass_payment_id: id } });
  const { verificationCode: code } = options;
  if (code !== undefined && opened.second_factor === 'totp') await answer(opened.challenge_id, code);
  else await asked(session, id, opened, answer, id);
}

/** Prints the state of a file. @returns 1 if it has failed, or has more bad rows than were accepted */
function report(print: Printer, file: MassPayment, accepted: number): 0 | 1 {
  print.done(progressOf(file), file);
  return isBad(file, accepted) ? 1 : 0;
}

function isBad(
  { mass_payment_status: status, error, payments_summary: { payments_errored: wrong } }: MassPayment,
  accepted: number,
) {
  return status === 'Failed' || (status === 'Processed' && error !== null) || wrong > accepted;
}

/** Sends a pain.001. @returns the exit status: 1 if a block was refused, or a row is bad */
async function sendInitiation(session: Session, print: Printer, options: Options, content: Uint8Array): Promise<0 | 1> {
  const { messageId, status, refused } = readReport(
    await session.lombard.paymentInitiations.create(content).catch(rejected),
  );
  const files = (await session.lombard.massPayments.list({ page_size: 1_000 }).page()).items.filter(
    ({ payment_initiation_id: id }) => id === messageId,
  );
  const last: MassPayment[] = [];
  let failed = refused.length > 0;
  for (const { mass_payment_id: id } of files) {
    const isDone = (file: MassPayment, looks: number) => isResting(file, true, looks);
    let file =
      options.wait || options.confirm ? await reached(session, id, isDone) : await session.lombard.massPayments.get(id);
    const accepted = options.confirm ? file.payments_summary.payments_errored : 0;
    if (options.confirm && file.mass_payment_status === 'Processed') {
      await confirm(session, id, options);
      if (options.wait) file = await reached(session, id, ({ mass_payment_status: now }) => ENDED.includes(now));
    }
    failed ||= isBad(file, accepted);
    last.push(file);
  }
  print.done(
    [
      `${messageId}: ${status}`,
      ...refused.map(({ payment_information_id: id, code }) => `${id}: ${code}`),
      ...last.map(progressOf),
    ].join('\n'),
    {
      ...{ payment_initiation_id: messageId, group_status: status, mass_payments: last, refused },
    },
  );
  return failed ? 1 : 0;
}

/** The report of a message whose blocks are all refused. @throws any other error */
function rejected(error: unknown): string {
  if (error instanceof LombardError && error.status === 202) return error.details;
  throw error;
}
