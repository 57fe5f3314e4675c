import type { Command } from 'commander';
import { Printer } from './printer.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';

/** The options that every command has. */
export interface GlobalOptions extends SessionOptions {
  json: boolean;
}

/** A command that was called. */
export interface Call {
  /** The arguments in their order; one that may be left out is undefined then. */
  args: (string | undefined)[];
  options: Record<string, string | boolean | readonly string[] | undefined>;
  globals: GlobalOptions;
  print: Printer;
}

/** What a command does. @returns its exit status where that is not 0 */
type Work<C> = (call: C) => Promise<number | undefined> | Promise<void>;

/** How the groups of commands are attached to the program. */
export interface Frame {
  program: Command;
  /** Makes a command do something. */
  does(command: Command, work: Work<Call>): Command;
  /** As `does`, for a contact who is signed in. */
  asContact(command: Command, work: Work<Call & { session: Session }>): Command;
}

/** @param finish takes the exit status of the command that ran */
export function createFrame(program: Command, finish: (code: number) => void): Frame {
  const does = (command: Command, work: Work<Call>) =>
    command.action(async (...given: unknown[]) => {
      const called = given.at(-1) as Command;
      const { json = false, profile, client } = called.optsWithGlobals();
      const globals = { json, profile, client };
      const call = { args: called.processedArgs, options: called.opts(), globals, print: new Printer(json) };
      finish((await work(call)) ?? 0);
    });
  return {
    program,
    does,
    asContact: (command, work) =>
      does(command, async (call) => (await work({ ...call, session: await openSession(call.globals) })) ?? 0),
  };
}

const EXAMPLES = new WeakMap<Command, string[]>();

/** The help of a group of commands has the first example of each of them. Call it once all commands are there. */
export function showExamplesOfGroups(program: Command): void {
  for (const group of program.commands.filter(({ commands }) => commands.length > 0)) {
    showExamplesOfGroups(group);
    example(group, ...group.commands.flatMap((command) => EXAMPLES.get(command)?.slice(0, 1) ?? []));
  }
}

/** An example below the help of a command. */
export function example(command: Command, ...lines: string[]): Command {
  EXAMPLES.set(command, lines);
  const title = lines.length === 1 ? 'Example' : 'Examples';
  return command.addHelpText('after', `\n${title}:\n${lines.map((line) => `  lombard ${line}`).join('\n')}`);
}
