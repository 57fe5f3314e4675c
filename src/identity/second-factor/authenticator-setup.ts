import type { Act } from '../../audit/act.ts';
import { audit } from '../../audit/record.ts';
import { type Db, first, type Transaction } from '../../database/database.ts';
import type { Vault } from '../../values/crypto.ts';
import { Problem } from '../../values/errors.ts';
import { findContact, updateContact } from '../people/contact.ts';
import type { PageSession } from '../sign-in/page-session.ts';
import { replaceRecoveryCodes } from './recovery-code.ts';
import { newTotp, totpStep, useTotpStep } from './totp.ts';
import { readCode } from './verification-code.ts';

/** Minutes that a person has to scan the code. */
const SETUP_MINUTES = 10;
/** A person who signed in this recently need not give the password again. */
const FRESH_SIGN_IN_MINUTES = 10;
const PURPOSE = 'authenticator_setup';

/** An authenticator that its person has not confirmed yet. */
interface Setup {
  contactId: string;
  secret: string;
  expiresAt: string;
}

/** What a person scans or types, and what comes back with the first code. */
export interface BegunSetup {
  secret: string;
  /** An `otpauth:` address, for a QR code. */
  uri: string;
  /** Contains the secret, sealed. Nothing is stored before the first code is correct. */
  setup: string;
}

/** Makes a new authenticator for a contact. It becomes the second factor with its first code. */
export function beginAuthenticatorSetup(
  { vault, issuer, now }: { vault: Vault; issuer: string; now: Date },
  { contactId, email }: { contactId: string; email: string },
): BegunSetup {
  const { secret, uri } = newTotp(issuer, email);
  const expiresAt = new Date(now.getTime() + SETUP_MINUTES * 60_000).toISOString();
  const setup: Setup = { contactId, secret, expiresAt };
  return { secret, uri, setup: vault.seal(JSON.stringify(setup), PURPOSE).toString('base64url') };
}

/**
 * Makes an authenticator the contact's second factor if the code is correct.
 * @returns new recovery codes
 * @throws Problem invalid_body
 */
export async function confirmAuthenticator(
  tx: Transaction,
  act: Act,
  vault: Vault,
  { contactId, setup, code }: { contactId: string; setup: string; code: string },
): Promise<string[]> {
  const { secret } = openSetup(vault, setup, { contactId, now: act.now });
  const digits = readCode(code);
  const step = digits === undefined ? undefined : totpStep(secret, digits, act.now);
  if (step === undefined)
    throw new Problem('invalid_body', { field: 'verification_code', message: 'is not the code of this authenticator' });
  await updateContact(tx, act, vault, { contactId, patch: { second_factor: 'totp', totpSecret: secret } });
  await useTotpStep(tx, { contactId, step, now: act.now });
  return newRecoveryCodes(tx, act, contactId);
}

/** Makes new recovery codes for a contact with an authenticator. @throws Problem invalid_body if the contact has none */
export async function newRecoveryCodes(tx: Transaction, act: Act, contactId: string): Promise<string[]> {
  const contact = await findContact(tx, contactId);
  if (contact.second_factor !== 'totp')
    throw new Problem('invalid_body', {
      field: 'second_factor',
      message: 'must be totp: set an authenticator up first',
    });
  const codes = await replaceRecoveryCodes(tx, contactId);
  const after = { recovery_codes: codes.length };
  audit(tx, act, { action: 'update', entity: 'contact', entityId: contactId, after });
  return codes;
}

/** Whether a session began so recently that its person need not give the password again. */
export async function isFreshSignIn(db: Db, session: PageSession, now: Date): Promise<boolean> {
  const found = await db.query<{ authenticated_at: Date }>('select authenticated_at from grants where id = $1', [
    session.grant_id,
  ]);
  const at = first(found)?.authenticated_at;
  return at !== undefined && now.getTime() - at.getTime() < FRESH_SIGN_IN_MINUTES * 60_000;
}

function openSetup(vault: Vault, sealed: string, { contactId, now }: { contactId: string; now: Date }): Setup {
  const setup = readSetup(vault, sealed);
  if (setup?.contactId !== contactId || now.toISOString() > setup.expiresAt)
    throw new Problem('invalid_body', { field: 'setup', message: 'has expired: start again' });
  return setup;
}

function readSetup(vault: Vault, sealed: string): Setup | undefined {
  try {
    return JSON.parse(vault.open(Buffer.from(sealed, 'base64url'), PURPOSE));
  } catch {
    return undefined;
  }
}
