import { randomInt } from 'node:crypto';
import type { Act } from '../../audit/act.ts';
import { audit } from '../../audit/record.ts';
import { first, type Transaction } from '../../database/database.ts';
import { sha256 } from '../../values/crypto.ts';

/** The number of codes that a person gets at once. */
const RECOVERY_CODES = 10;
/** Only digits, because phones show a keypad for them. 20 digits, 66 bits, cannot be found from their hash. */
const GROUPS = 4;
const GROUP_DIGITS = 5;

/** Recovery codes in plain text. They are shown once. */
export interface RecoveryCodes {
  recovery_codes: string[];
}

/** The digits of a code as somebody typed it; undefined if it is not a recovery code. */
function readRecoveryCode(typed: string): string | undefined {
  const digits = typed.replace(/[\s-]/g, '');
  return /^\d+$/.test(digits) && digits.length === GROUPS * GROUP_DIGITS ? digits : undefined;
}

/**
 * Makes new recovery codes for a contact. Each signs in once in place of a code from the authenticator. Earlier codes are no longer valid.
 * @returns the codes to be shown, once: `12345-67890-12345-67890`
 */
export async function replaceRecoveryCodes(tx: Transaction, contactId: string): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, newCode);
  const hashes = codes.map((code) => hash(contactId, code.replaceAll('-', '')));
  await tx.query('delete from recovery_codes where contact_id = $1', [contactId]);
  await tx.query('insert into recovery_codes (contact_id, code_sha256) select $1, unnest($2::bytea[])', [
    contactId,
    hashes,
  ]);
  return codes;
}

/**
 * Uses up a recovery code. The audit trail records this with the number of codes that are left.
 * @returns false if the contact has no such code, or it was used before
 */
export async function useRecoveryCode(
  tx: Transaction,
  act: Act,
  { contactId, typed }: { contactId: string; typed: string },
): Promise<boolean> {
  const code = readRecoveryCode(typed);
  if (code === undefined) return false;
  const used = await tx.query('delete from recovery_codes where contact_id = $1 and code_sha256 = $2', [
    contactId,
    hash(contactId, code),
  ]);
  if (used.rowCount !== 1) return false;
  const left = await tx.query<{ left: number }>(
    'select count(*)::int as left from recovery_codes where contact_id = $1',
    [contactId],
  );
  const after = { recovery_code_used: true, recovery_codes: first(left)?.left };
  audit(tx, act, { action: 'update', entity: 'contact', entityId: contactId, after });
  return true;
}

function newCode(): string {
  const group = () => String(randomInt(0, 10 ** GROUP_DIGITS)).padStart(GROUP_DIGITS, '0');
  return Array.from({ length: GROUPS }, group).join('-');
}

function hash(contactId: string, digits: string): Buffer {
  return sha256(`recovery code ${contactId} ${digits}`);
}
