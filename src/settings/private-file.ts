import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from '../values/errors.ts';
import { codeOf, messageOf } from '../values/unknown.ts';
import { replaceFile } from './data-directory.ts';
import { KEY_BYTES, keyIn } from './settings.ts';

const KEY_FILE = 'master-key';

/** The sandbox's master key. The first start creates it. */
export async function sandboxKey(dataDir: string): Promise<Buffer> {
  const existing = await existingSandboxKey(dataDir);
  if (existing) return existing;
  const key = randomBytes(KEY_BYTES);
  replaceFile(join(dataDir, KEY_FILE), `${key.toString('base64')}\n`);
  return key;
}

/** The sandbox's master key; undefined before the first start. @throws StartupError if it cannot be read, or is damaged */
export async function existingSandboxKey(dataDir: string): Promise<Buffer | undefined> {
  const path = join(dataDir, KEY_FILE);
  const text = await readFile(path, 'utf8').catch((error) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new StartupError(`cannot read ${path}: ${messageOf(error)}`);
  });
  if (text === undefined) return undefined;
  const key = keyIn(text.trim());
  if (!key)
    throw new StartupError(
      `${path} must contain ${KEY_BYTES} bytes in base64, and is damaged: restore it, or set LOMBARD_MASTER_KEY to its key`,
    );
  return key;
}
