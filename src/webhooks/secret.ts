import type { Vault } from '../values/crypto.ts';
import { Problem } from '../values/errors.ts';

const PURPOSE = 'webhook_secret';
/** The most former secrets that sign in addition to the current one. */
const MAX_FORMER_SECRETS = 3;

/** A sealed secret that was replaced, and signs until a moment of service time. */
export interface FormerSecret {
  secret: Buffer;
  until: Date;
}

/** Opens a sealed secret of a subscription. Returns the empty text if none is set. */
export function openSecret(vault: Vault, sealed: Buffer | null): string {
  return sealed === null ? '' : vault.open(sealed, PURPOSE);
}

export function sealSecret(vault: Vault, secret: string | null): Buffer | null {
  return secret === null ? null : vault.seal(secret, PURPOSE);
}

/**
 * The secrets that still sign after a rotation. A rotation without an overlap ends all overlaps: from then on only the new secret signs.
 * @param overlapSeconds how long the current secret still signs after its replacement
 * @throws Problem invalid_body if MAX_FORMER_SECRETS sign already
 */
export function rotateSecrets(
  present: { secret: Buffer | null; former: readonly FormerSecret[] },
  now: Date,
  overlapSeconds: number,
): FormerSecret[] {
  if (overlapSeconds === 0) return [];
  const former = present.former.filter(({ until }) => until > now);
  if (present.secret !== null)
    former.unshift({ secret: present.secret, until: new Date(now.getTime() + overlapSeconds * 1_000) });
  if (former.length > MAX_FORMER_SECRETS) {
    throw new Problem('invalid_body', {
      field: 'previousSecretSeconds',
      message: `${MAX_FORMER_SECRETS} former secrets are signed with already; wait until one has ended, or replace the secret without an overlap`,
    });
  }
  return former;
}
