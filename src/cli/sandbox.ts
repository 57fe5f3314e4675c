import type { InputOf } from '../../sdk/src/index.ts';
import { CommandFailure, USAGE } from './failure.ts';
import { example, type Frame } from './frame.ts';
import { ask, canAsk } from './question.ts';

/** `lombard trigger`, `advance` and `reset`, which control the sandbox. */
export function sandboxCommands(frame: Frame): void {
  const trigger = frame.program
    .command('trigger <event>')
    .description('make real data in the sandbox that causes a notification');
  example(trigger, 'trigger PAYMENT_STATUS_CHANGE:RETURNED', 'trigger CREDIT_INCOMING_TRANSACTION');
  // Events and statuses are not checked here; the service knows which exist.
  frame.asContact(trigger, async ({ args: [event], session, print }) => {
    const body = { event } as InputOf<'POST /sandbox/trigger'>['body'];
    const { body: made } = await session.lombard.call('POST /sandbox/trigger', { body });
    print.done(`${made.event}: ${made.entity} ${made.entity_id}`, made);
  });

  const advance = frame.program
    .command('advance <payment> [status]')
    .description('move a payment in the sandbox: one step, or to a status, or returned');
  example(advance, 'advance PAY000001', 'advance PAY000001 "Payment complete"', 'advance PAY000001 returned');
  frame.asContact(advance, async ({ args: [id = '', to], session, print }) => {
    const route = 'POST /sandbox/payments/{payment_id}/advance';
    const body = (to === undefined ? {} : { to }) as InputOf<typeof route>['body'];
    const { body: moved } = await session.lombard.call(route, { path: { payment_id: id }, body });
    print.done(`${moved.payment_id}: ${moved.status}`, moved);
  });

  const reset = frame.program
    .command('reset')
    .description("put the client's data in the sandbox back to the demonstration's")
    .option('--yes', 'do not ask');
  frame.asContact(example(reset, 'reset --yes'), async ({ options, session, print }) => {
    if (!options.yes && !(await agreed(session.clientId))) throw new CommandFailure('nothing was reset');
    await session.lombard.call('POST /sandbox/reset', {});
    print.done(`${session.clientId} is reset`, { client_id: session.clientId, done: 'reset' });
  });
}

/** Asks on a terminal. @throws CommandFailure if there is none */
async function agreed(clientId: string): Promise<boolean> {
  if (!canAsk()) throw new CommandFailure('reset: needs --yes where nobody can be asked', USAGE);
  const answer = await ask(`Delete everything that ${clientId} has, and make the demonstration again? [y/N] `);
  return /^y(es)?$/i.test(answer);
}
