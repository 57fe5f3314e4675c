import { randomBytes } from 'node:crypto';
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from './errors.ts';

/** The sandbox's master key, made on the first start. */
export async function sandboxKey(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, 'master-key');
  try {
    return Buffer.from((await readFile(path, 'utf8')).trim(), 'base64');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new StartupError(`cannot read ${path}: ${(error as Error).message}`);
  }
  const key = randomBytes(32);
  await writePrivately(path, `${key.toString('base64')}\n`);
  return key;
}

/** Writes a file that only its owner may read, whole or not at all. */
export async function writePrivately(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, text, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, path);
}
