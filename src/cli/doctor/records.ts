import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Db, first } from '../../database/database.ts';
import { FONTS_REMEDY, payeeWithoutFont, withoutFont } from '../../documents/fonts.ts';
import { missingKey } from '../../keys/missing-key.ts';
import { DEMO_APPLICATION, DEMO_CONTACTS } from '../../sandbox/demonstration/institution.ts';
import type { Config } from '../../settings/config.ts';
import { existingSandboxKey } from '../../settings/private-file.ts';
import { Vault } from '../../values/crypto.ts';
import { StartupError } from '../../values/errors.ts';
import { count, type Finding, failed, ok, warnIf, warning } from './finding.ts';

const DAY_MS = 86_400_000;
const MIN_TOKEN_DAYS = 30;
/** Approvals convert payments with these rates. Older rates lead to wrong decisions. */
const MAX_RATES_AGE_DAYS = 7;

/**
 * Checks the contents of the database: whether the key opens them, and whether production contains what only a sandbox may contain.
 * @param cells those that answer; the first one has what exists once
 */
export async function checkRecords(cells: readonly [Db, ...Db[]], config: Config, now: Date): Promise<Finding[]> {
  const [db] = cells;
  const findings = [
    ...(await checkKey(cells, config)),
    ...(await checkTokens(db, config, now)),
    await checkRates(db, now),
    ...(config.documentFonts === undefined ? [await checkNames(cells)] : []),
  ];
  if (config.environment === 'sandbox') return findings;
  return [...findings, await checkDemonstration(db), await checkSecondFactors(db), await checkApplications(db)];
}

/** Names in scripts that no font covers are shown as boxes in documents. */
async function checkNames(cells: readonly Db[]): Promise<Finding> {
  for (const db of cells) {
    const payee = await payeeWithoutFont(db);
    if (payee !== undefined) return warning('fonts', `${withoutFont(payee)}: ${FONTS_REMEDY}`);
  }
  return ok('fonts', "documents can show the payees' names");
}

async function checkKey(cells: readonly Db[], config: Config): Promise<Finding[]> {
  try {
    const file = config.environment === 'sandbox' && config.masterKeys.length === 0;
    const keys = file ? [(await existingSandboxKey(config.dataDir)) ?? []].flat() : config.masterKeys;
    if (keys.length === 0) return [];
    const fault = await missingKey(cells, new Vault(...keys));
    return [fault ? failed('master key', fault) : ok('master key', 'opens the secrets of the database')];
  } catch (error) {
    if (error instanceof StartupError) return [failed('master key', error.message)];
    throw error;
  }
}

/** Checks the sandbox's token for commands. The first start writes it, and later starts do not write it again. */
export async function checkTokenFile({ dataDir, environment, operatorToken }: Config): Promise<Finding[]> {
  if (environment !== 'sandbox' || operatorToken !== undefined) return [];
  const found = await stat(join(dataDir, 'operator-token')).catch(() => undefined);
  if (found) return [];
  return [
    warning(
      'operator tokens',
      `${dataDir} has no operator-token, which commands and examples use: write one there ` +
        '(lombard operator-tokens create NAME --role admin --database prints it)',
    ),
  ];
}

async function checkTokens(db: Db, config: Config, now: Date): Promise<Finding[]> {
  const row = first(
    await db.query<{ living: number; ends: Date | null; revoked: boolean }>(
      `select count(*)::int as living, max(coalesce(expires_at, 'infinity')) filter (where expires_at is not null) as ends,
         exists (select from operator_tokens where name = 'configured' and revoked_at is not null) as revoked
       from operator_tokens where revoked_at is null and (expires_at is null or expires_at > $1)`,
      [now],
    ),
  );
  const living = row?.living ?? 0;
  if (living === 0 && config.operatorToken === undefined && config.environment === 'production')
    return [
      failed(
        'operator tokens',
        'LOMBARD_OPERATOR_TOKEN is not set, and the database has no valid token; a start is refused: ' +
          'lombard operator-tokens create NAME --role admin --database',
      ),
    ];
  const { rows } = await db.query<{ name: string; expires_at: Date }>(
    'select name, expires_at from operator_tokens where revoked_at is null and expires_at > $1 and expires_at < $2 order by expires_at',
    [now, new Date(now.getTime() + MIN_TOKEN_DAYS * DAY_MS)],
  );
  const noFile = living > 0 ? await checkTokenFile(config) : [];
  if (noFile.length > 0) return noFile;
  if (rows.length === 0)
    return [ok('operator tokens', living === 0 ? 'the first start makes one' : `${count(living, 'valid token')}`)];
  return rows.map(({ name, expires_at: end }) =>
    warning('operator tokens', `${name} expires on ${end.toISOString().slice(0, 10)}: create its successor before`),
  );
}

async function checkRates(db: Db, now: Date): Promise<Finding> {
  const row = first(
    await db.query<{ oldest: Date | null }>(
      `select min(as_of) as oldest from exchange_rates where exists (select from clients where payment_approvals_enabled)`,
    ),
  );
  const age = row?.oldest ? Math.floor((now.getTime() - row.oldest.getTime()) / DAY_MS) : 0;
  return warnIf(age > MAX_RATES_AGE_DAYS, 'exchange rates', {
    warns: `some are ${count(age, 'day')} old, and thresholds of approvals go by them: PUT /exchange-rates each day`,
    fine: 'recent enough for the thresholds of approvals',
  });
}

async function checkDemonstration(db: Db): Promise<Finding> {
  const { rows } = await db.query<{ id: string }>(
    `select contact_id as id from contacts where email = any ($1) and status = 'enabled'
     union all select client_id from applications where client_id = $2 and status = 'enabled'`,
    [DEMO_CONTACTS.map(({ email }) => email), DEMO_APPLICATION.client_id],
  );
  if (rows.length === 0) return ok('demonstration', 'none of it is in this database');
  const ids = rows.map(({ id }) => id).join(', ');
  return failed(
    'demonstration',
    `everybody knows the passwords and secrets of ${ids}: use a database that never was a sandbox`,
  );
}

async function checkSecondFactors(db: Db): Promise<Finding> {
  const row = first(
    await db.query<{ without: number }>(
      `select count(distinct c.contact_id)::int as without from contacts c join contact_clients m using (contact_id)
       where c.status = 'enabled' and c.second_factor = 'none' and m.can_authorise_payments`,
    ),
  );
  const without = row?.without ?? 0;
  return warnIf(without > 0, 'second factor', {
    warns: `${count(without, 'contact')} who may approve payments sign in with a password only: PATCH /contacts/{contact_id} {"second_factor": "totp"}`,
    fine: 'everybody who may approve payments has one',
  });
}

async function checkApplications(db: Db): Promise<Finding> {
  const { rows } = await db.query<{ client_id: string }>(
    `select client_id from applications where status = 'enabled' and not public_client
       and exists (select from unnest(redirect_uris) uri where uri ~ '^http:') order by 1 limit 10`,
  );
  return warnIf(rows.length > 0, 'redirect addresses', {
    warns: `${rows.map((row) => row.client_id).join(', ')} take codes over plain http: PATCH /applications/{client_id} with https addresses`,
    fine: 'none is plain http',
  });
}
