import cluster from 'node:cluster';
import { bankTable } from './beneficiaries/bank-table.ts';
import type { Context } from './context.ts';
import { askCells } from './database/cells/contexts.ts';
import { checkFonts } from './documents/fonts.ts';
import { requireFreePorts, type WantedPort } from './http/server/ports.ts';
import { checkTrustedFiles } from './http/trusted/files.ts';
import { missingKey } from './keys/missing-key.ts';
import type { Config } from './settings/config.ts';
import { makeDataDirectory } from './settings/data-directory.ts';
import { institutionFrom } from './settings/institution.ts';
import { StartupError } from './values/errors.ts';
import { messageOf } from './values/unknown.ts';

/**
 * Checks what can be wrong before the database is used: the data directory, the files that the settings name, and the ports.
 * @throws StartupError one line that names the variable
 */
export async function checkStart(config: Config): Promise<void> {
  makeDataDirectory(config.dataDir);
  checkInstitution(config);
  bankTable(config.bankDetails);
  checkFonts(config.documentFonts);
  await checkTrustedFiles(config);
  // The workers of a cluster share the ports that its primary has checked.
  if (!cluster.isWorker) await requireFreePorts(wantedPorts(config));
}

/** @throws StartupError if the logo cannot be used */
export function checkInstitution({ institution }: Config): void {
  try {
    institutionFrom(institution);
  } catch (error) {
    throw new StartupError(
      `LOMBARD_INSTITUTION_LOGO: must be an SVG or PNG file of at most 1 MiB, not "${institution.logo}" (${messageOf(error)})`,
      { cause: error },
    );
  }
}

/** @throws StartupError in production, if a master key that sealed secrets of this database is missing */
export async function checkMasterKey({ config, pool, vault, log }: Context): Promise<void> {
  const { answering, silent } = await askCells(pool);
  for (const cell of silent) log.error(cell, 'a cell does not answer; its clients get 502 until it does');
  const fault = await missingKey(answering, vault);
  if (!fault) return;
  if (config.environment === 'production') throw new StartupError(fault);
  // A sandbox continues. Everything works that needs none of the old secrets.
  log.error(`${fault}. Until then, what needs these secrets fails, sign-ins among it`);
}

/** The ports that the roles of a process use. */
export function wantedPorts(config: Config): WantedPort[] {
  const { host, operatorHost, healthHost, roles, healthPort } = config;
  const wanted: WantedPort[] = [];
  if (healthPort.ifTaken === 'refuse')
    wanted.push({ variable: 'LOMBARD_HEALTH_PORT', host: healthHost, port: healthPort.port });
  if (roles.has('api')) wanted.push({ variable: 'LOMBARD_API_PORT', host, port: config.apiPort });
  if (roles.has('auth')) wanted.push({ variable: 'LOMBARD_AUTH_PORT', host, port: config.authPort });
  if (roles.has('trusted')) wanted.push({ variable: 'LOMBARD_TRUSTED_PORT', host, port: config.trustedPort });
  if (roles.has('operator'))
    wanted.push({ variable: 'LOMBARD_OPERATOR_PORT', host: operatorHost, port: config.operatorPort });
  return wanted;
}
