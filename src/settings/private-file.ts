import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from '../values/errors.ts';
import { codeOf, messageOf } from '../values/unknown.ts';
import { replaceFile } from './data-directory.ts';

const KEY_BYTES = 32;

const KEY_FILE = 'master-key';

/** The sandbox's master key. The first start creates it. */
export async function sandboxKey(dataDir: string): Promise<Buffer> {
  const existing = await existingSandboxKey(dataDir);
  if (existing) return existing;
  const key = randomBytes(KEY_BYTES);
  replaceFile(join(dataDir, KEY_FILE), `${key.toString('base64')}\n`);
  return key;
}

/** The sandbox's master key; undefined before the first start. @throws StartupError if it cannot be read */
export async function existingSandboxKey(dataDir: string): Promise<Buffer | undefined> {
  const path = join(dataDir, KEY_FILE);
  try {
    return Buffer.from((await readFile(path, 'utf8')).trim(), 'base64');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new StartupError(`cannot read ${path}: ${messageOf(error)}`);
  }
}
