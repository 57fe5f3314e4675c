import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../settings/config.ts';
import { replaceFile } from '../settings/data-directory.ts';
import { fieldsOf } from '../values/unknown.ts';

/** The addresses of the service that runs on a data directory. Commands on the same machine read them. */
export interface Running {
  api: string;
  auth: string;
  trusted: string | null;
  operator: string | null;
  health: string | null;
}

const FILE = 'addresses.json';

export function writeRunning(dataDir: string, running: Running): void {
  replaceFile(join(dataDir, FILE), `${JSON.stringify(running, null, 2)}\n`, 0o644);
}

export function removeRunning(dataDir: string): void {
  rmSync(join(dataDir, FILE), { force: true });
}

/** The service that runs on the data directory; undefined if none does. A service that was killed may still be listed. */
export function readRunning(config: Config): Running | undefined {
  try {
    const found = fieldsOf(JSON.parse(readFileSync(join(config.dataDir, FILE), 'utf8')));
    const [api, auth, trusted, operator, health] = ['api', 'auth', 'trusted', 'operator', 'health'].map((name) =>
      typeof found[name] === 'string' ? found[name] : null,
    );
    return api && auth
      ? { api, auth, trusted: trusted ?? null, operator: operator ?? null, health: health ?? null }
      : undefined;
  } catch {
    return undefined;
  }
}

/** The address of the operator interface: that of the running service, or else the one in the settings. */
export function operatorAddress(config: Config): string {
  const running = readRunning(config);
  if (running?.operator) return running.operator;
  const host = config.operatorHost.includes(':') ? `[${config.operatorHost}]` : config.operatorHost;
  return `http://${host}:${config.operatorPort}`;
}

/** The operator token of the data directory, or undefined. */
export function operatorTokenFile(config: Config): string | undefined {
  try {
    return readFileSync(join(config.dataDir, 'operator-token'), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
