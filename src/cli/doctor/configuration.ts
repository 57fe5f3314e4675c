import { isIP } from 'node:net';
import { bankTable } from '../../beneficiaries/bank-table.ts';
import { checkFonts } from '../../documents/fonts.ts';
import { type Config, examineConfig } from '../../settings/config.ts';
import type { AddressRange, Environment } from '../../settings/settings.ts';
import { checkInstitution } from '../../start-checks.ts';
import { messageOf } from '../../values/unknown.ts';
import { type Finding, failed, ok, warning } from './finding.ts';

const LOOPBACK = /^(127\.|::1$|localhost$)/;

/** Checks the settings. `config` is undefined if a value is wrong; then nothing else can be checked. */
export function checkConfiguration(env?: Environment): { config: Config | undefined; findings: Finding[] } {
  try {
    const { config, unsafe, unknown } = examineConfig(env);
    const findings = [ok('configuration', `${config.environment}; every value can be used`)];
    for (const name of unknown)
      findings.push(
        warning('configuration', `${name} is not a setting of this program; docs/configuration.md has their names`),
      );
    for (const fault of unsafe)
      findings.push(failed('production', `${fault}; a start is refused: ${remedyFor(fault)}`));
    findings.push(checkLogo(config), ...checkBankDetails(config), ...checkFontDirectory(config));
    if (config.environment === 'production') findings.push(...checkExposure(config));
    return { config, findings };
  } catch (error) {
    return { config: undefined, findings: [failed('configuration', messageOf(error))] };
  }
}

function checkLogo(config: Config): Finding {
  try {
    checkInstitution(config);
    return ok('letterhead', config.institution.name);
  } catch (error) {
    return failed('letterhead', messageOf(error));
  }
}

/** Checks the file of bank details. Finds nothing if the service's own table is in force. */
function checkBankDetails({ bankDetails: file }: Config): Finding[] {
  if (file === undefined) return [];
  try {
    return [ok('bank details', `${bankTable(file).rows.length} rows from ${file}`)];
  } catch (error) {
    return [failed('bank details', messageOf(error))];
  }
}

/** Checks the directory of fonts. Finds nothing if documents use only the service's own fonts; records.ts reports whether a name needs others. */
function checkFontDirectory({ documentFonts: directory }: Config): Finding[] {
  if (directory === undefined) return [];
  try {
    checkFonts(directory);
    return [ok('fonts', `documents also use those in ${directory}`)];
  } catch (error) {
    return [failed('fonts', messageOf(error))];
  }
}

const REMEDIES: [RegExp, string][] = [
  [/MASTER_KEY/, 'set it to 32 bytes in base64, as `openssl rand -base64 32` prints'],
  [/https address/, 'set it to the public https address'],
  [/SMTP_URL/, 'set it to the mail server, as smtps://user:password@mail.example'],
  [/DATABASE_URL/, 'set it to your PostgreSQL'],
  [/AUTOPILOT/, 'unset it: it moves payments by itself'],
];

function remedyFor(fault: string): string {
  return REMEDIES.find(([about]) => about.test(fault))?.[1] ?? 'see docs/configuration.md';
}

/** Settings that production accepts, but that SECURITY.md advises against. */
function checkExposure(config: Config): Finding[] {
  const findings: Finding[] = [];
  const say = (check: string, message: string) => findings.push(warning(check, message));
  for (const [variable, host] of [
    ['LOMBARD_OPERATOR_HOST', config.operatorHost],
    ['LOMBARD_HEALTH_HOST', config.healthHost],
  ] as const)
    if (!LOOPBACK.test(host))
      say(
        'exposure',
        `${variable} is ${host}: let only the institution's own network reach it, or set it to 127.0.0.1`,
      );
  for (const [variable, rate] of [
    ['LOMBARD_API_RATE', config.apiRate],
    ['LOMBARD_AUTH_RATE', config.authRate],
  ] as const)
    if (rate === 0)
      say('rate limits', `${variable} is 0: nothing slows a flood or guessing; set a number of requests a minute`);
  if (config.webhookAllow.length > 0)
    say(
      'webhook addresses',
      `LOMBARD_WEBHOOK_ALLOW lets clients make this service call ${config.webhookAllow.map(text).join(', ')}; leave it empty`,
    );
  for (const { address, prefix } of config.proxies)
    if (prefix === 0)
      say(
        'proxies',
        `LOMBARD_PROXIES believes ${address}/0, so any caller can make up its address; name your proxies only`,
      );
  if (!config.requirePkce)
    say('PKCE', 'LOMBARD_REQUIRE_PKCE is no: set it to yes once all applications send a code_challenge');
  if (config.mailFrom.includes('@localhost'))
    say('mail', 'LOMBARD_MAIL_FROM is at localhost: receivers refuse such a sender; set an address of the institution');
  if (config.institution.name === 'Lombard Sandbox')
    say('institution', "LOMBARD_INSTITUTION_NAME is not set: documents and mails carry the sandbox's letterhead");
  if (['trace', 'debug'].includes(config.logLevel))
    say('log', `LOMBARD_LOG_LEVEL is ${config.logLevel}: the log grows quickly; set it to info`);
  return findings;
}

function text({ address, prefix }: AddressRange): string {
  return prefix === (isIP(address) === 6 ? 128 : 32) ? address : `${address}/${prefix}`;
}
