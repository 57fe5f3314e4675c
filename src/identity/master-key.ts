import type { Vault } from '../crypto.ts';
import type { Db } from '../database.ts';

/**
 * Whether this process's master key (LOMBARD_MASTER_KEY) opens the secrets of the database. It tries the newest client secret and
 * one webhook secret, so that a wrong key is noticed at the start and not at the first sign-in.
 */
export async function opensSecrets(db: Db, vault: Vault): Promise<boolean> {
  const { rows } = await db.query<{ secret: Buffer; purpose: string }>(
    `(select secret, 'application_secrets' as purpose from application_secrets order by id desc limit 1)
     union all
     (select secret, 'webhook_secret' from webhooks.subscriptions where secret is not null limit 1)`,
  );
  return rows.every(({ secret, purpose }) => {
    try {
      vault.open(secret, purpose);
      return true;
    } catch {
      return false;
    }
  });
}
