import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';

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
  writeFileSync(join(dataDir, FILE), `${JSON.stringify(running, null, 2)}\n`);
}

export function removeRunning(dataDir: string): void {
  rmSync(join(dataDir, FILE), { force: true });
}

/** The address of the operator interface: that of the running service, otherwise the configured one. */
export function operatorAddress(config: Config): string {
  try {
    const running = JSON.parse(readFileSync(join(config.dataDir, FILE), 'utf8')) as Running;
    if (running.operator) return running.operator;
  } catch {
    // No service runs here, or it was killed.
  }
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
