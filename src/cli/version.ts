import { readFile } from 'node:fs/promises';
import { fieldsOf } from '../values/unknown.ts';

/** The version of the program, as package.json says it. */
export async function programVersion(): Promise<string> {
  const manifest = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  return String(fieldsOf(JSON.parse(manifest)).version);
}
