import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/**
 * Reads what this process has started and created, one per line. When its input ends, this process has ended. Then the script kills and
 * removes what is left, including child processes. A shell survives whatever ends this process: a failed assertion, a time limit, Ctrl-C,
 * SIGKILL.
 */
const SCRIPT = `
programs=' ' folders=
while read -r what name; do
  case $what in
    started) programs="$programs$name " ;;
    ended) programs="\${programs%%" $name "*} \${programs#*" $name "}" ;;
    made) folders="$folders$name " ;;
  esac
done
for program in $programs; do
  children=$(grep -lsx "PPid:	$program" /proc/[0-9]*/status | cut -d / -f 3)
  kill -9 $program $children 2>/dev/null
done
for folder in $folders; do
  umount -l "$folder" 2>/dev/null
  for attempt in 1 2 3 4 5; do rm -rf "$folder" 2>/dev/null && break; sleep 1; done
done
`;

let reaper: Socket | undefined;

function tell(line: string): void {
  reaper ??= startReaper();
  reaper.write(`${line}\n`);
}

function startReaper(): Socket {
  // In its own process group, because Ctrl-C is meant for the tests.
  const child = spawn('/bin/sh', ['-c', SCRIPT], { cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  const input = child.stdin as Socket;
  input.on('error', () => {});
  input.unref();
  child.unref();
  return input;
}

/** Ensures that a program started by a test ends with this process at the latest, however that ends. @returns the program */
export function endWithTests<Child extends ChildProcess>(child: Child): Child {
  const { pid } = child;
  if (pid === undefined) return child;
  tell(`started ${pid}`);
  child.once('exit', () => tell(`ended ${pid}`));
  return child;
}

/**
 * Ensures that a temporary folder is removed with this process at the latest, and unmounted if it is a file system.
 * @param folder with a unique name, and no space in its path
 * @returns the folder
 */
export function removeWithTests(folder: string): string {
  tell(`made ${folder}`);
  return folder;
}
