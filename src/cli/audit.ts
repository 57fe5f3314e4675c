import { stringify } from '../../sdk/src/index.ts';
import type { Verification } from '../audit/verification.ts';
import { parseEnd, parseStart } from '../values/calendar.ts';
import { fieldsOf, listOf } from '../values/unknown.ts';
import { CommandFailure, USAGE } from './failure.ts';
import { example, type Frame } from './frame.ts';
import { callOperator, type OperatorOptions, withOperator } from './operator-call.ts';
import { write } from './output.ts';
import type { Printer } from './printer.ts';

/** The number of rows that one request of an export reads. */
const PAGE_ROWS = 1_000;
const DAY_MS = 86_400_000;

interface RangeOptions extends OperatorOptions {
  from?: string;
  to?: string;
}

interface VerifyOptions extends RangeOptions {
  head?: string;
}

/** `lombard audit`. */
export function auditCommands({ program, does }: Frame): void {
  const audit = program
    .command('audit')
    .description('prove and export the audit trail (docs/audit.md)')
    .helpCommand(false);

  const verify = withOperator(
    audit
      .command('verify')
      .description('prove the chain, a day at a time; the exit code is 1 if something is wrong')
      .option(
        '--from <moment>',
        'first day (UTC) or instant, as 2026-11-01 or 2026-11-01T08:00:00Z; default: everything that is kept',
      )
      .option('--to <moment>', 'last day (UTC), or the instant after the last')
      .option('--head <position:hash>', 'a head that you have kept, from the log'),
  );
  example(verify, 'audit verify', 'audit verify --from 2026-11-01 --head 57:5f0c...');
  does<VerifyOptions>(verify, ({ options, print }) => verifyAudit(options, print));

  const write = withOperator(
    audit
      .command('export')
      .description('write the rows as NDJSON to standard output, the oldest first')
      .option('--from <moment>', 'first day (UTC) or instant; default: everything that is kept')
      .option('--to <moment>', 'last day (UTC), or the instant after the last'),
  );
  example(write, 'audit export --from 2026-11-01 --to 2026-11-30 | gzip > november.ndjson.gz');
  does<RangeOptions>(write, ({ options }) => exportAudit(options));
}

/** Verifies the trail in requests of one day each, and its end in the last one. @returns the exit code: 1 if something is wrong */
async function verifyAudit(options: VerifyOptions, print: Printer): Promise<number> {
  const { from, to } = rangeOf(options);
  const until = to ?? new Date((await momentOf(options, 'last')) ?? 0);
  let rows = 0;
  let begin = from;
  // The first request covers everything up to the end of the first day that has rows, however long before that it begins.
  const first = Math.max(from?.getTime() ?? 0, (await momentOf(options, 'first')) ?? until.getTime());
  for (let day = Math.floor(first / DAY_MS) * DAY_MS + DAY_MS; day < until.getTime(); day += DAY_MS) {
    const end = new Date(day);
    const proof = await prove(options, { from: begin, to: end });
    rows += proof.rows;
    if (!proof.valid) return told({ ...proof, rows }, print);
    begin = end;
  }
  const proof = await prove(options, { from: begin, to, head: options.head });
  return told({ ...proof, rows: rows + proof.rows }, print);
}

/** Writes the rows in requests of one page each. */
async function exportAudit(options: RangeOptions): Promise<void> {
  const { from, to } = rangeOf(options);
  for (let after = 0; ; ) {
    const path = `/audit?${query({ after, limit: PAGE_ROWS, from: from?.toISOString(), to: to?.toISOString() })}`;
    const rows = listOf(await callOperator(options, { method: 'GET', path }));
    await write(rows.map((row) => `${stringify(row)}\n`).join(''));
    after = Number(fieldsOf(rows.at(-1)).position ?? after);
    if (rows.length < PAGE_ROWS) return;
  }
}

async function prove(
  options: OperatorOptions,
  range: { from?: Date | undefined; to?: Date | undefined; head?: string | undefined },
): Promise<Verification> {
  const { from, to, head } = range;
  const path = `/audit/verify?${query({ from: from?.toISOString(), to: to?.toISOString(), head })}`;
  return (await callOperator(options, { method: 'GET', path })) as Verification;
}

function told(proof: Verification, print: Printer): number {
  const { valid, rows, fault, head, keyed_from, kept_from } = proof;
  const notes = [
    ...(kept_from > 1 ? [`kept from position ${kept_from}`] : []),
    ...(keyed_from !== null && keyed_from > 1 ? [`sealed with the key from position ${keyed_from}`] : []),
    ...(head ? [`head ${head.position}:${head.hash}`] : []),
  ];
  const sentence = valid
    ? [`the audit trail is valid: ${rows} rows proved`, ...notes].join('; ')
    : `the audit trail is not valid: ${fault?.message} (${fault?.what})`;
  print.done(sentence, proof);
  return valid ? 0 : 1;
}

/** When the first or the last row of the trail was written (ms). */
async function momentOf(options: OperatorOptions, which: 'first' | 'last'): Promise<number | undefined> {
  const path = which === 'first' ? '/audit?limit=1' : '/audit/verify?from=9999-12-31T00:00:00Z';
  const answer = await callOperator(options, { method: 'GET', path });
  const { at } = fieldsOf(which === 'first' ? listOf(answer)[0] : fieldsOf(answer).head);
  return at === undefined ? undefined : new Date(String(at)).getTime();
}

/** @throws CommandFailure */
function rangeOf({ from, to }: RangeOptions): { from: Date | undefined; to: Date | undefined } {
  const moment = (name: string, text: string | undefined, parse: (text: string) => Date | undefined) => {
    const parsed = text === undefined ? undefined : parse(text);
    if (text !== undefined && !parsed)
      throw new CommandFailure(
        `--${name}: "${text}" must be an instant or a day, as 2026-11-01T00:00:00Z or 2026-11-01`,
        USAGE,
      );
    return parsed;
  };
  return { from: moment('from', from, parseStart), to: moment('to', to, parseEnd) };
}

function query(parameters: Record<string, string | number | undefined>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}
