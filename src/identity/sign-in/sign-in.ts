import { type Db, first } from '../../database/database.ts';
import type { Clock } from '../../values/calendar.ts';
import { limitAttempts, PASSWORD_ATTEMPTS, passwordSubject } from '../attempt-limit.ts';
import { OAuthError } from '../oauth-error.ts';
import { hasControlCharacter } from '../parameters.ts';
import { verifyPassword } from './password.ts';

/** The most characters of an email address (RFC 5321, 4.5.3.1.3). */
export const MAX_EMAIL_LENGTH = 254;

/** A contact who gave the correct password. */
export interface SignedIn {
  contactId: string;
  secondFactor: 'none' | 'totp' | 'sms';
}

interface Row {
  address: string;
  contact_id: string | null;
  password_hash: string | null;
  status: string | null;
  second_factor: SignedIn['secondFactor'] | null;
}

/**
 * Checks an email and a password (docs/decisions.md, 7). An email that is unknown, has no password, or belongs to a disabled contact gets
 * the same answer after the same work as a wrong password, and is locked in the same way.
 * @throws OAuthError invalid_grant; temporarily_unavailable while the email is locked
 */
export async function checkPassword(
  db: Db,
  clock: Clock,
  { email, password }: { email: string; password: string },
): Promise<SignedIn> {
  const address = email.normalize('NFC').trim();
  const plausible = address.length <= MAX_EMAIL_LENGTH && !hasControlCharacter(address);
  const row = first(
    await db.query<Row>({
      name: 'sign_in',
      text: `select e.address, k.contact_id, k.password_hash, k.status, k.second_factor
        from (values (lower($1::text))) as e(address) left join contacts k on lower(k.email) = e.address`,
      values: [plausible ? address : ''],
    }),
  );
  const right = await limitAttempts(db, clock, {
    limit: PASSWORD_ATTEMPTS,
    subject: passwordSubject((plausible && row?.address) || address),
    attempt: async () => {
      const matches = await verifyPassword(row?.password_hash ?? null, password);
      return matches && row?.status === 'enabled';
    },
  });
  if (!right || !row?.contact_id) {
    throw new OAuthError('invalid_grant', 'the email or the password is wrong', { refusal: 'wrong_password' });
  }
  return { contactId: row.contact_id, secondFactor: row.second_factor ?? 'none' };
}
