import { type Command, InvalidArgumentError } from 'commander';
import { type ApprovalsRehearsal, decimal, type NewApprovalsConfiguration, stringify } from '../../sdk/src/index.ts';
import { fieldsOf } from '../values/unknown.ts';
import { example, type Frame } from './frame.ts';
import { write } from './output.ts';
import type { Column } from './printer.ts';
import { refusal } from './refusal.ts';
import { readJson } from './result-file.ts';

/** `lombard approvals`. */
export function approvalCommands(frame: Frame): void {
  const config = frame.program
    .command('approvals')
    .description('who must approve which payments')
    .command('config')
    .description('the approvals workflow configuration');
  const get = config.command('get').description('print the configuration in force, as JSON that set takes');
  example(get, 'approvals config get > approvals.json');
  frame.asContact(get, async ({ session }) => {
    await write(`${stringify(await session.lombard.approvals.configuration(), 2)}\n`);
  });
  const set = config.command('set <file>').description('replace the whole configuration; - reads standard input');
  example(set, 'approvals config set approvals.json');
  frame.asContact(set, async ({ args: [file = ''], session, print }) => {
    const wanted = await readConfiguration(file);
    if (!isWritten(wanted)) {
      // This is what `get` prints for a client without a configuration.
      if (isWritten(await session.lombard.approvals.configuration()))
        throw refusal('invalid_body', 'body.ruleset: is null, and a configuration can be replaced, but not removed');
      print.done('the client has no configuration, and the file has none: nothing was changed', wanted);
      return;
    }
    const made = await session.lombard.approvals.replace(wanted);
    print.done('the configuration is replaced; it governs new payments', made);
  });
  addCheck(frame, config);
}

/** Adds the dry run: it shows who would have to approve, and whether the service would accept the configuration. */
function addCheck(frame: Frame, config: Command): void {
  const check = config
    .command('check <file>')
    .description(
      'check a configuration, and show who would have to approve; nothing is changed; - reads standard input',
    )
    .option(
      '--amounts <list>',
      "sample amounts in the ruleset's currency, comma separated; each threshold by default",
      amountsOf,
    );
  example(check, 'approvals config check approvals.json --amounts 4999.99,5000,250000');
  frame.asContact<{ amounts?: string[] }>(
    check,
    async ({ args: [file = ''], options: { amounts }, session, print }) => {
      const wanted = await readConfiguration(file);
      const rehearsal = await session.lombard.approvals.rehearse({
        ...wanted,
        ...(amounts && { sample_amounts: amounts }),
      });
      if (print.json) {
        print.record(rehearsal);
        return;
      }
      const off = rehearsal.payment_approvals_enabled ? '' : '; approvals are switched off for this client';
      print.rows(rehearsal.samples, SAMPLE_COLUMNS, { after: `the configuration can be set${off}` });
    },
  );
}

const SAMPLE_COLUMNS: Column<ApprovalsRehearsal['samples'][number]>[] = [
  ['AMOUNT', (sample) => decimal(sample, 'amount')],
  ['CURRENCY', ({ currency }) => currency],
  ['FROM', (sample) => (sample.rule === null ? 'no rule' : decimal(sample, 'minimum_threshold'))],
  ['APPROVALS', ({ minimum_authorisations: people }) => people],
  ['LEVELS', ({ levels }) => levels.map(levelText).join(', then ')],
  ['FIRST', ({ first_approvers: people }) => people.join(' ')],
];

/** A level as text, such as `owners + finance or directors`. */
function levelText({ one_of: alternatives }: { one_of: { all_of: string[] }[] }): string {
  return alternatives.map(({ all_of: groups }) => groups.join(' + ')).join(' or ');
}

function amountsOf(list: string): string[] {
  const amounts = list.split(',').map((amount) => amount.trim());
  const wrong = amounts.find((amount) => !/^\d+(\.\d+)?$/.test(amount));
  if (wrong !== undefined) throw new InvalidArgumentError(`"${wrong}" must be an amount, as 5000 or 4999.99.`);
  return amounts;
}

/** Reads whatever the person wrote; the service checks it. @throws CommandFailure */
async function readConfiguration(file: string): Promise<NewApprovalsConfiguration> {
  return (await readJson(file)) as NewApprovalsConfiguration;
}

/** Whether it can be sent. For a client without a configuration, `get` prints a null ruleset. */
function isWritten(config: unknown): boolean {
  return fieldsOf(config).ruleset !== null;
}
