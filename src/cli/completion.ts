import { Argument, type Command } from 'commander';
import { isOneOf } from '../values/unknown.ts';
import { example, type Frame } from './frame.ts';
import { write } from './output.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** A command in the form that the scripts need. */
interface Place {
  /** The words that call it, such as `lombard payments list`. */
  path: string;
  commands: Word[];
  options: (Word & { takesValue: boolean; values: string[] })[];
  /** The possible values of its arguments. */
  values: string[];
}

interface Word {
  name: string;
  description: string;
}

/** `lombard completion`: prints a script that completes commands, options and their values. It is generated from the commands themselves. */
export function completionCommand(frame: Frame): void {
  const completion = frame.program
    .command('completion')
    .description('print the script that lets a shell complete this command')
    .addArgument(new Argument('<shell>').choices(SHELLS));
  const lines = ['completion bash > ~/.local/share/bash-completion/completions/lombard'];
  example(
    completion,
    ...lines,
    'completion zsh > ~/.zfunc/_lombard',
    'completion fish > ~/.config/fish/completions/lombard.fish',
  );
  frame.does(completion, async ({ args: [shell] }) => {
    if (isOneOf(SHELLS, shell)) await write(SCRIPTS[shell](placesOf(frame.program, frame.program.name())));
  });
}

function placesOf(command: Command, path: string): Place[] {
  const help = command.createHelp();
  help.showGlobalOptions = true;
  const below = help.visibleCommands(command);
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  const place: Place = {
    path,
    commands: below.map((one) => ({ name: one.name(), description: one.description() })),
    options: options.flatMap(({ long: name, description, required, optional, argChoices: values = [] }) =>
      name === undefined ? [] : [{ name, description, takesValue: required || optional, values }],
    ),
    values: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
  };
  return [place, ...below.flatMap((one) => placesOf(one, `${path} ${one.name()}`))];
}

const SCRIPTS: Record<Shell, (places: Place[]) => string> = { bash, zsh, fish };

/** The commands below the program, for the shell's `case` on the words so far. */
function deeper(places: Place[]): string[] {
  return places.slice(1).map(({ path }) => quoted(path));
}

function bash(places: Place[]): string {
  const words = places.map(({ path, commands, options, values }) => {
    const all = [...commands, ...options].map(({ name }) => name).concat(values);
    return `    ${quoted(path)}) words=${quoted(all.join(' '))} ;;`;
  });
  const valued = places.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ name, values }) => `    ${quoted(`${path} ${name}`)}) words=${quoted(values.join(' '))} ;;`),
  );
  return `# Completes lombard in bash.
_lombard() {
  local at=lombard word words= current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
      ${deeper(places).join('|')}) at="$at $word" ;;
    esac
  done
  case "$at" in
${words.join('\n')}
  esac
  case "$at $before" in
${valued.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _lombard lombard
`;
}

function zsh(places: Place[]): string {
  const described = ({ name, description }: Word) => quoted(`${name}:${description}`);
  const words = places.map(({ path, commands, options, values }) => {
    const all = [...commands, ...options, ...values.map((name) => ({ name, description: '' }))];
    return `    (${quoted(path)}) found=(${all.map(described).join(' ')}) ;;`;
  });
  const valued = places.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ name, values }) => `    (${quoted(`${path} ${name}`)}) found=(${values.map(quoted).join(' ')}) ;;`),
  );
  return `#compdef lombard
# Completes lombard in zsh.
_lombard() {
  local at=lombard word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      (${deeper(places).join('|')}) at="$at $word" ;;
    esac
  done
  case "$at" in
${words.join('\n')}
  esac
  case "$at \${words[CURRENT-1]}" in
${valued.join('\n')}
  esac
  if (( \${#found} )); then _describe lombard found; else _files; fi
}
if [ "\${funcstack[1]}" = _lombard ]; then _lombard "$@"; else compdef _lombard lombard; fi
`;
}

function fish(places: Place[]): string {
  const lines = places.flatMap(({ path, commands, options, values }) => {
    const at = `complete -c lombard -n "__lombard_at ${quoted(path)}"`;
    return [
      ...commands.map(({ name, description }) => `${at} -f -a ${name} -d ${fishQuoted(description)}`),
      ...values.map((name) => `${at} -f -a ${name}`),
      ...options.map(({ name, description, takesValue, values: choices }) => {
        const value = choices.length > 0 ? ` -x -a ${fishQuoted(choices.join(' '))}` : takesValue ? ' -r' : '';
        return `${at} -l ${name.replace(/^--/, '')}${value} -d ${fishQuoted(description)}`;
      }),
    ];
  });
  return `# Completes lombard in fish.
function __lombard_at
  set -l at lombard
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${deeper(places).join(' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function fishQuoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
