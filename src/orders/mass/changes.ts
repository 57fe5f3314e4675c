import { shareLock } from '../../approvals/lock.ts';
import type { Act } from '../../audit/act.ts';
import type { Context } from '../../context.ts';
import { type Db, first, type Transaction } from '../../database/database.ts';
import { zerosOf } from '../../exchange/currency.ts';
import type { Orderer } from '../../payments/orders/order.ts';
import {
  findSecondFactor,
  keepChallenge,
  type OpenedStepUp,
  secondFactorMissing,
} from '../../payments/step-up/challenge.ts';
import { approvalsText } from '../../payments/step-up/message.ts';
import {
  challengeExpired,
  factorsOf,
  type Proof,
  type StepUpAnswer,
  stepUpRequired,
  useUp,
  verify,
} from '../../payments/step-up/verification.ts';
import { sha256 } from '../../values/crypto.ts';
import { type BodyFault, Problem, refusedBody } from '../../values/errors.ts';
import { isUuid } from '../../values/identifiers.ts';
import type { Language } from '../../values/language.ts';
import { decimalsOf, sum } from '../../values/money.ts';
import type { MassStatus } from './declaration.ts';
import { moveTo } from './file-step.ts';
import { noMassPayment } from './reading.ts';

/** What people do with a file that was judged: they confirm it or cancel it. */

/** A file of a client, named by a contact. */
export interface NamedFile extends Orderer {
  id: string;
}

interface Locked {
  mass_payment_id: string;
  client_id: string;
  status: MassStatus;
  sell_currency: string | null;
  proceeds: boolean;
  created_by: string;
}

async function findFile(db: Db, { clientId, id }: NamedFile, lock = ''): Promise<Locked> {
  if (!isUuid(id)) noMassPayment();
  const found = first(
    await db.query<Locked & Record<string, unknown>>(
      `select mass_payment_id, client_id, status, sell_currency, proceeds, created_by from mass_payments
       where client_id = $1 and mass_payment_id = $2 ${lock}`,
      [clientId, id],
    ),
  );
  return found ?? noMassPayment();
}

const lockFile = (tx: Transaction, named: NamedFile) => findFile(tx, named, 'for no key update');

function notNow({ status }: Locked): Problem {
  return new Problem('transition_not_allowed', {
    field: 'mass_payment_id',
    message: `the mass payment is "${status}"`,
  });
}

/** Whether the client requires a code. */
async function needsCode(db: Db, clientId: string): Promise<boolean> {
  const { rows } = await db.query<{ needed: boolean }>(
    'select approval_step_up as needed from clients where client_id = $1',
    [clientId],
  );
  return rows[0]?.needed ?? false;
}

/** If a code is required, only the file's maker may act on it. @throws Problem permission_denied */
function requireMaker({ created_by: maker }: Locked, { contactId }: NamedFile): void {
  if (maker !== contactId)
    throw new Problem('permission_denied', 'only the contact who sent the file confirms it, with a code');
}

/**
 * Confirms a file that was judged, so that its valid rows are done.
 * @param maximum the most that its exchanges may cost, a decimal; undefined: any cost
 * @param proof of the code (`checkFileCode`), if the client requires one
 * @throws Problem mass_payment_not_found, invalid_body, transition_not_allowed, permission_denied, step_up_required, challenge_expired,
 *   step_up_failed
 */
export async function confirmFile(
  tx: Transaction,
  act: Act,
  named: NamedFile,
  { maximum, proof }: { maximum: string | undefined; proof: Proof | undefined },
): Promise<void> {
  const needed = await needsCode(tx, named.clientId);
  const requireConfirmable = (each: Locked) => {
    if (needed) requireMaker(each, named);
    if (each.status !== 'Processed' || each.proceeds) throw notNow(each);
  };
  const found = await findFile(tx, named);
  const fault = await maximumFault(tx, maximum, found.sell_currency);
  if (fault) throw refusedBody([fault]);
  requireConfirmable(found);
  if (needed && !proof) throw stepUpRequired();
  // The client's lock is taken before the file, in the same order as by the worker and by a reset.
  const using = proof && needed ? useUp(tx, named, { proof, now: act.now }) : shareLock(tx, named.clientId);
  const challenge = await using.catch(async (error: unknown) => {
    // Meanwhile somebody else may have confirmed the file, with the same code.
    requireConfirmable(await findFile(tx, named));
    throw error;
  });
  const file = await lockFile(tx, named);
  requireConfirmable(file);
  if (challenge) {
    const { rowCount } = await tx.query(
      `select from step_up_challenges where challenge_sha256 = $1 and client_id = $2 and mass_payment_id = $3 and content_sha256 = $4`,
      [challenge, named.clientId, named.id, (await contentOf(tx, named)).hash],
    );
    if (rowCount === 0) throw challengeExpired();
  }
  await moveTo({ tx, act, file: file as never }, 'Queued for creating', {
    maximum_sell_amount: maximum ?? null,
    authorised: needed,
  });
}

/** The fault of a maximum cost, which may have at most the decimals of the sold currency. */
export async function maximumFault(
  db: Db,
  maximum: string | undefined,
  currency: string | null | undefined,
): Promise<BodyFault | undefined> {
  if (maximum === undefined || currency == null) return undefined;
  const decimals = decimalsOf((await zerosOf(db, [currency])).get(currency) ?? '0');
  if (decimalsOf(maximum) <= decimals) return undefined;
  const message = `must have at most ${decimals} digits after the point, as ${currency} has`;
  return { field: 'maximum_sell_amount', code: 'invalid_format', message };
}

/** Cancels a file before its payments are made. @throws Problem mass_payment_not_found, transition_not_allowed */
export async function cancelFile(tx: Transaction, act: Act, named: NamedFile): Promise<void> {
  const file = await lockFile(tx, named);
  if (file.status !== 'Processed' && file.status !== 'Queued for creating') throw notNow(file);
  await moveTo({ tx, act, file: file as never }, 'Cancelled', { proceeds: false });
}

/** What a code confirms: the number of valid rows, their sums, and a hash of their payees, accounts and amounts. */
async function contentOf(db: Db, { clientId, id }: NamedFile) {
  const { rows } = await db.query<{
    amount: string;
    currency: string;
    account: string | null;
    sent: string;
    payee: unknown;
  }>(
    `select r.amount::text as amount, r.currency, coalesce(b.iban, b.account_number, r.sent ->> 'iban', r.sent ->> 'account_number') as account,
       r.sent::text as sent, array[b.beneficiary_name, b.iban, b.account_number, b.bank_identifier, b.swift_code] as payee
     from mass_payment_rows r left join beneficiaries b on b.client_id = r.client_id and b.beneficiary_id = r.beneficiary_id and b.client_id = $1
     where r.client_id = $1 and r.mass_payment_id = $2 and r.status = 'valid' order by r.request_index`,
    [clientId, id],
  );
  const sums = await zerosOf(db, [...new Set(rows.map(({ currency }) => currency))]);
  for (const { currency, amount } of rows) sums.set(currency, sum(sums.get(currency) ?? '0', amount));
  return { hash: sha256(JSON.stringify(rows)), sums, accounts: rows.map(({ account }) => account ?? '-') };
}

/**
 * Opens a challenge for the confirmation of a file, in the caller's transaction. Its text message is sent after the commit (`sendOpened`).
 * @throws Problem second_factor_missing, mass_payment_not_found, permission_denied, transition_not_allowed, rate_limited
 */
export async function openFileChallenge(
  tx: Transaction,
  { config }: Pick<Context, 'config'>,
  named: NamedFile,
  { now, language }: { now: Date; language: Language },
): Promise<OpenedStepUp> {
  const { contactId, id } = named;
  const contact = await findSecondFactor(tx, contactId);
  const file = await lockFile(tx, named);
  requireMaker(file, named);
  if (file.status !== 'Processed' || file.proceeds) throw notNow(file);
  const { hash: content, sums, accounts } = await contentOf(tx, named);
  const { code, ...opened } = await keepChallenge(tx, named, { contact, now, file: { id, content } });
  const text = code && approvalsText(contact.language ?? language, config.institution.name, { code, sums, accounts });
  return { ...opened, text };
}

/**
 * Checks the code of a confirmation, before its transaction. The attempt is counted first.
 * @returns undefined if the client requires none, or if the file cannot be confirmed now, which `confirmFile` then reports
 * @throws Problem second_factor_missing, mass_payment_not_found, permission_denied, step_up_required, challenge_expired, step_up_failed,
 * rate_limited
 */
export async function checkFileCode(
  context: Context,
  named: NamedFile,
  { challengeId, code }: StepUpAnswer,
): Promise<Proof | undefined> {
  const { pool, clock } = context;
  if (!(await needsCode(pool, named.clientId))) return undefined;
  const contact = await factorsOf(pool, named.contactId);
  if (contact?.second_factor === 'none') throw secondFactorMissing();
  const file = await findFile(pool, named);
  requireMaker(file, named);
  if (file.status !== 'Processed' || file.proceeds) return undefined;
  if (challengeId === undefined || code === undefined) throw stepUpRequired();
  const counted = first(
    await pool.query<{ kind: 'totp' | 'sms'; code_sha256: Buffer | null }>(
      `update step_up_challenges set attempts = attempts + 1
       where challenge_sha256 = $1 and client_id = $2 and contact_id = $3 and kind = $4 and mass_payment_id = $5 and content_sha256 = $6
         and used_at is null and expires_at > $7 and attempts < 5
       returning kind, code_sha256`,
      [
        ...[sha256(challengeId), named.clientId, named.contactId, contact?.second_factor, named.id],
        ...[(await contentOf(pool, named)).hash, clock.now()],
      ],
    ),
  );
  const attempt = contact && counted && { ...contact, ...counted };
  return verify(context, named.contactId, { attempt, challengeId, code });
}
