import type { Command } from 'commander';
import { accountCommands } from './accounts.ts';
import { approvalCommands } from './approvals.ts';
import { createFrame, type Frame } from './frame.ts';
import { listenCommand } from './listen.ts';
import { logsCommand } from './logs.ts';
import { notificationCommands } from './notifications.ts';
import { paymentCommands } from './payments.ts';
import { DEFAULT_PROFILE } from './profile.ts';
import { sandboxCommands } from './sandbox.ts';
import { signInCommands } from './sign-in/commands.ts';
import { subscriptionCommands } from './subscriptions.ts';

/**
 * Adds what a client's contact does: the commands that call the client API, and the options that all commands share.
 * @returns for further commands
 */
export function clientCommands(program: Command, finish: (code: number) => void): Frame {
  program
    .option('--json', 'JSON for programs; an error is an ErrorMessage in JSON on standard error')
    .option('--profile <name>', `who is signed in (${DEFAULT_PROFILE})`)
    .option('--client <id>', 'the client to act for, where the contact has several');
  const frame = createFrame(program, finish);
  program.commandsGroup('The client API:');
  signInCommands(frame);
  paymentCommands(frame);
  accountCommands(frame);
  approvalCommands(frame);
  subscriptionCommands(frame);
  notificationCommands(frame);
  listenCommand(frame);
  sandboxCommands(frame);
  logsCommand(frame);
  return frame;
}
