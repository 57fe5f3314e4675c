import { type Command, InvalidArgumentError, Option, type OptionValues } from 'commander';
import { Printer } from './printer.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';

/** The options that every command has. */
export interface GlobalOptions extends SessionOptions {
  json: boolean;
}

/** The options of a command in commander's form. A command may narrow the type of its own. */
type Options = Record<string, string | boolean | readonly string[] | undefined>;

/** A call of a command. */
export interface Call<O extends OptionValues = Options> {
  /** The arguments in order; an omitted optional one is undefined. */
  args: (string | undefined)[];
  options: O;
  globals: GlobalOptions;
  print: Printer;
}

/** What a command does. @returns its exit status, if that is not 0 */
type Work<C> = (call: C) => Promise<number | undefined> | Promise<void>;

/** How groups of commands are added to the program. */
export interface Frame {
  program: Command;
  /** Sets what a command does. */
  does<O extends OptionValues = Options>(command: Command, work: Work<Call<O>>): Command;
  /** Like `does`, for a contact who is signed in. */
  asContact<O extends OptionValues = Options>(command: Command, work: Work<Call<O> & { session: Session }>): Command;
}

/** @param finish receives the exit status of the command that ran */
export function createFrame(program: Command, finish: (code: number) => void): Frame {
  const does: Frame['does'] = <O extends OptionValues>(command: Command, work: Work<Call<O>>) =>
    command.action(async () => {
      const { json = false, profile, client } = command.optsWithGlobals();
      const globals = { json, profile, client };
      const call = { args: command.processedArgs, options: command.opts<O>(), globals, print: new Printer(json) };
      finish((await work(call)) ?? 0);
    });
  const asContact: Frame['asContact'] = <O extends OptionValues>(
    command: Command,
    work: Work<Call<O> & { session: Session }>,
  ) => does<O>(command, async (call) => (await work({ ...call, session: await openSession(call.globals) })) ?? 0);
  return { program, does, asContact };
}

const EXAMPLES = new WeakMap<Command, string[]>();

/** Adds the first example of each command to the help of its group. Call it after all commands are added. */
export function showExamplesOfGroups(program: Command): void {
  for (const group of program.commands.filter(({ commands }) => commands.length > 0)) {
    showExamplesOfGroups(group);
    example(group, ...group.commands.flatMap((command) => EXAMPLES.get(command)?.slice(0, 1) ?? []));
  }
}

/** Adds an example below the help of a command. */
export function example(command: Command, ...lines: string[]): Command {
  EXAMPLES.set(command, lines);
  const title = lines.length === 1 ? 'Example' : 'Examples';
  return command.addHelpText('after', `\n${title}:\n${lines.map((line) => `  lombard ${line}`).join('\n')}`);
}

/** An option that takes words from a closed list, separated by commas. Its value is an array; any other word leads to exit status 2. */
export function someOf(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values).argParser((text: string) => {
    const given = text.split(',').map((item) => item.trim());
    const wrong = given.find((item) => !values.includes(item));
    if (wrong !== undefined)
      throw new InvalidArgumentError(`"${wrong}" is none of them. Allowed choices are ${values.join(', ')}.`);
    return given;
  });
}
