import { type Command, InvalidArgumentError, Option, type OptionValues } from 'commander';
import { Printer } from './printer.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';

/** The options that every command has. */
export interface GlobalOptions extends SessionOptions {
  json: boolean;
}

/** The options of a command as commander gives them. A command may say more of its own: that they are given, what they may be. */
type Options = Record<string, string | boolean | readonly string[] | undefined>;

/** A command that was called. */
export interface Call<O extends OptionValues = Options> {
  /** The arguments in their order; one that may be left out is undefined then. */
  args: (string | undefined)[];
  options: O;
  globals: GlobalOptions;
  print: Printer;
}

/** What a command does. @returns its exit status where that is not 0 */
type Work<C> = (call: C) => Promise<number | undefined> | Promise<void>;

/** How the groups of commands are attached to the program. */
export interface Frame {
  program: Command;
  /** Makes a command do something. */
  does<O extends OptionValues = Options>(command: Command, work: Work<Call<O>>): Command;
  /** As `does`, for a contact who is signed in. */
  asContact<O extends OptionValues = Options>(command: Command, work: Work<Call<O> & { session: Session }>): Command;
}

/** @param finish takes the exit status of the command that ran */
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

/** An option that takes some of a closed list, separated by commas. Its value is their array; another word is exit 2. */
export function someOf(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values).argParser((text: string) => {
    const given = text.split(',').map((item) => item.trim());
    const wrong = given.find((item) => !values.includes(item));
    if (wrong !== undefined)
      throw new InvalidArgumentError(`"${wrong}" is none of them. Allowed choices are ${values.join(', ')}.`);
    return given;
  });
}
