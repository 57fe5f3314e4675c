import type { NewApprovalsConfiguration } from '../../sdk/src/index.ts';
import { example, type Frame } from './frame.ts';
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
    process.stdout.write(`${JSON.stringify(await session.lombard.approvals.configuration(), null, 2)}\n`);
  });
  const set = config.command('set <file>').description('replace the whole configuration; - reads standard input');
  example(set, 'approvals config set approvals.json');
  frame.asContact(set, async ({ args, session, print }) => {
    const wanted = (await readJson(args[0] as string)) as NewApprovalsConfiguration;
    const made = await session.lombard.approvals.replace(wanted);
    print.done('the configuration is replaced; it governs new payments', made);
  });
}
