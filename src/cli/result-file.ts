import { readFile, writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { parse } from '../../sdk/src/index.ts';
import { messageOf } from '../values/unknown.ts';
import { CommandFailure } from './failure.ts';
import { write } from './output.ts';

/** Writes the result of a command to a file, or to standard output for `-`. @throws CommandFailure */
export async function writeResult(file: string, content: Uint8Array): Promise<void> {
  if (file !== '-') {
    await writeFile(file, content).catch((error: Error) => {
      throw new CommandFailure(`cannot write ${file}: ${error.message}`);
    });
  } else {
    await write(content);
  }
}

/** The bytes of a file, or of standard input for `-`. @throws CommandFailure */
export function readBytes(file: string): Promise<Buffer> {
  return (file === '-' ? buffer(process.stdin) : readFile(file)).catch((error: Error) => {
    throw new CommandFailure(`cannot read ${file}: ${error.message}`);
  });
}

/** The text of a file, or of standard input for `-`. @throws CommandFailure */
export async function readInput(file: string): Promise<string> {
  return (await readBytes(file)).toString('utf8');
}

/** Like `readInput`, parsed as JSON. The numbers keep their digits for the SDK. @throws CommandFailure */
export async function readJson(file: string): Promise<unknown> {
  return jsonOf(file, await readInput(file));
}

/** Parses the JSON of a file. @throws CommandFailure */
export function jsonOf(file: string, content: string): unknown {
  try {
    return parse(content);
  } catch (error) {
    throw new CommandFailure(`${file} is not JSON: ${messageOf(error)}`);
  }
}
