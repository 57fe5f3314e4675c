import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { Option } from 'commander';
import { CONFLICT_RULES, type ConflictRule } from '../imports/conflicts.ts';
import type { ImportAnswer } from '../imports/import.ts';
import { monotonic } from '../values/calendar.ts';
import { CommandFailure, INTERRUPTED, interruption } from './failure.ts';
import type { Frame } from './frame.ts';
import { callOperator, type OperatorOptions, Unanswered, withOperator } from './operator-call.ts';
import type { Printer } from './printer.ts';

const IMPORT_KINDS = [
  'clients',
  'contacts',
  'beneficiaries',
  'trades',
  'payments',
  'payment-actions',
  'transactions',
] as const;
/** The most refused lines that are printed. */
const MAX_PRINTED_LINES = 50;
const MEBIBYTE_BYTES = 1_048_576;
/** The number of bytes of the file that are read at once. */
const CHUNK_BYTES = 262_144;

interface ImportOptions extends OperatorOptions {
  kind?: string;
  stop?: boolean;
  onConflict?: ConflictRule;
  notify?: boolean;
  idempotencyKey?: string;
}

/** `lombard import`. */
export function importCommand({ program, does }: Frame): void {
  const command = withOperator(
    program
      .command('import <file>')
      .description('import an NDJSON file, one record a line, plain or compressed (.gz); - reads standard input')
      .addOption(
        new Option('--kind <kind>', 'kind of the records; default: the one that the file name contains').choices([
          ...IMPORT_KINDS,
        ]),
      )
      .option('--stop', 'stop at the first line that is refused')
      .addOption(
        new Option('--on-conflict <rule>', 'what to do with a line whose record exists').choices([...CONFLICT_RULES]),
      )
      .option('--notify', 'send the notifications that single calls would')
      .option('--no-notify', 'send none; without this, payment-actions does')
      .option(
        '--idempotency-key <key>',
        'the same file with the same key is imported once; after an interruption it continues where it stopped',
      ),
  ).addHelpText(
    'after',
    `
Examples:
  lombard import payments.ndjson
  lombard import export.ndjson.gz --kind transactions
  zcat big.gz | lombard import - --kind payments
  lombard import payment-actions.ndjson --no-notify --idempotency-key 2026-11-22

If lines are refused, they are listed and the exit code is 1; the other lines are imported.`,
  );
  does<ImportOptions>(command, ({ args: [file = ''], options, print }) => importFile(file, options, print));
}

/**
 * Sends a file to POST /imports/{kind}, with a progress bar on a terminal. It always has an idempotency key, so that an interrupted import
 * can continue. If none was given it makes one, which the failure message names.
 * @returns 0 if every line was imported, 1 if some were refused
 * @throws CommandFailure
 */
async function importFile(file: string, options: ImportOptions, print: Printer): Promise<number> {
  const kind = options.kind ?? kindOf(file);
  const { size, bytes } = await open(file);
  const { default: cliProgress } = await import('cli-progress');
  const bar = new cliProgress.SingleBar(
    {
      format: '{bar} {percentage}% | {mebibytes} MiB | {eta_formatted} left',
      noTTYOutput: false,
      clearOnComplete: true,
      etaBuffer: 50,
    },
    cliProgress.Presets.shades_classic,
  );
  const query = new URLSearchParams({
    ...(options.stop ? { on_error: 'stop' } : {}),
    ...(options.onConflict ? { on_conflict: options.onConflict } : {}),
    ...(options.notify === undefined ? {} : { notify: String(options.notify) }),
  }).toString();
  const key = options.idempotencyKey ?? randomUUID();
  const interrupted = interruption();
  const started = monotonic();
  if (size !== undefined) bar.start(size, 0, { mebibytes: '0.0' });
  try {
    const answer = (await callOperator(options, {
      method: 'POST',
      path: `/imports/${kind}${query ? `?${query}` : ''}`,
      body: Readable.from(
        counted(bytes, (sent) => bar.update(sent, { mebibytes: (sent / MEBIBYTE_BYTES).toFixed(1) })),
        { objectMode: false },
      ),
      headers: {
        'content-type': 'application/x-ndjson',
        ...(file.endsWith('.gz') ? { 'content-encoding': 'gzip' } : {}),
        'idempotency-key': key,
      },
      signal: interrupted,
    })) as ImportAnswer;
    bar.stop();
    if (print.json) print.record(answer);
    else report(print, kind, answer, (monotonic() - started) / 1_000);
    return answer.rejected === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    const how = `the same command with --idempotency-key ${key} goes on after the last line that was imported`;
    if (interrupted.aborted) throw new CommandFailure(`the import was interrupted; ${how}`, INTERRUPTED);
    const { message, refusal } = error;
    throw new CommandFailure(`${message}; ${how}`, 1, refusal && { ...refusal, details: `${refusal.details}; ${how}` });
  } finally {
    bar.stop();
    bytes.destroy();
  }
}

function kindOf(file: string): string {
  const name = basename(file).toLowerCase();
  const [kind, ...others] = IMPORT_KINDS.filter((each) => name.includes(each));
  if (kind !== undefined && others.length === 0) return kind;
  throw new CommandFailure(
    `the name "${basename(file)}" does not contain one kind of records: give --kind (${IMPORT_KINDS.join(', ')})`,
    2,
  );
}

async function open(file: string): Promise<{ size: number | undefined; bytes: Readable }> {
  if (file === '-') return { size: undefined, bytes: process.stdin };
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailure(
      `cannot read ${file}: ${error.code === 'ENOENT' ? 'there is no such file' : error.message}`,
    );
  });
  if (found.isDirectory()) throw new CommandFailure(`cannot read ${file}: it is a directory`);
  return { size: found.size, bytes: createReadStream(file, { highWaterMark: CHUNK_BYTES }) };
}

async function* counted(bytes: Readable, seen: (sent: number) => void): AsyncGenerator<Buffer> {
  let sent = 0;
  const chunks: AsyncIterable<Buffer> = bytes;
  for await (const chunk of chunks) {
    yield chunk;
    sent += chunk.length;
    seen(sent);
  }
}

function report(print: Printer, kind: string, answer: ImportAnswer, seconds: number): void {
  const rate = Math.round(answer.accepted / Math.max(seconds, 0.001));
  const unchanged = answer.unchanged ? `${answer.unchanged} unchanged, ` : '';
  const counts = `${answer.accepted} accepted, ${unchanged}${answer.rejected} rejected`;
  print.note(`${kind}: ${counts} in ${seconds.toFixed(1)} s (${rate} a second)`);
  for (const error of answer.errors.slice(0, MAX_PRINTED_LINES))
    print.note(`line ${error.line}: ${error.code}: ${error.details}`);
  const unlisted = answer.rejected - Math.min(answer.errors.length, MAX_PRINTED_LINES);
  if (unlisted > 0) print.note(`... and ${unlisted} more`);
}
