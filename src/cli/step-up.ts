import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Challenge, LombardError } from '../../sdk/src/index.ts';
import { replaceFile } from '../settings/data-directory.ts';
import { fieldsOf } from '../values/unknown.ts';
import { profileFolder } from './profile.ts';
import { ask, canAsk } from './question.ts';
import { refusal } from './refusal.ts';
import type { Session } from './session.ts';

/** Where the code of a challenge is. */
const SOURCES: Record<Challenge['second_factor'], string> = {
  sms: 'it was sent to you by text message',
  totp: 'your authenticator shows it',
};

export interface Approval {
  reason: string | undefined;
  /** `--verification-code`. */
  code: string | undefined;
}

/**
 * Approves a payment. Where the client asks for a verification code, it opens a challenge and asks on a terminal for the code.
 * Elsewhere the challenge is remembered, and `--verification-code` of a later run answers it.
 * @throws LombardError, CommandFailure
 */
export async function approve(session: Session, id: string, { reason, code }: Approval): Promise<void> {
  const { payments } = session.lombard;
  const answer = async (challengeId: string, verificationCode: string) => {
    await payments.authorise(id, { reason, challengeId, verificationCode });
    await forgetChallenge(session, id);
  };
  const kept = code === undefined ? undefined : openChallenge(session, id);
  if (kept !== undefined && code !== undefined) {
    if (!(await met('challenge_expired', () => answer(kept, code)))) return;
    await forgetChallenge(session, id);
  }
  if (!(await met('step_up_required', () => payments.authorise(id, { reason })))) return;
  const { challenge_id: challengeId, second_factor: factor } = await payments.challenge(id);
  // The code of a text message cannot have been known before this one was sent.
  if (code !== undefined && factor === 'totp') {
    await answer(challengeId, code);
    return;
  }
  if (!canAsk()) {
    await keepChallenge(session, id, challengeId);
    throw refusal(
      'step_up_required',
      `the client asks for a code: ${SOURCES[factor]}; give it with --verification-code`,
    );
  }
  const asked = async () => answer(challengeId, await ask(`Verification code (${SOURCES[factor]}): `));
  while (await met('step_up_failed', asked)) process.stderr.write('The code is wrong, or was used before.\n');
}

/** Whether the service refused with this code. @throws LombardError every other one */
async function met(code: string, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return false;
  } catch (error) {
    if (error instanceof LombardError && error.code === code) return true;
    throw error;
  }
}

/** Challenges that are remembered, the newest last. They are good for minutes, so the older ones are over. */
const MAX_KEPT = 20;

const folder = () => join(profileFolder(), 'challenges');

function readAll(): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(readFileSync(join(folder(), 'open.json'), 'utf8')));
  } catch {
    return {};
  }
}

async function writeAll(kept: object): Promise<void> {
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
  replaceFile(join(folder(), 'open.json'), JSON.stringify(kept));
}

function keyOf({ profile }: Session, paymentId: string): string {
  return [profile.api_url, profile.contact_id, paymentId].join(' ');
}

/** The challenge that an earlier run opened for this person and payment; the service says whether it is still good. */
function openChallenge(session: Session, paymentId: string): string | undefined {
  const challenge = readAll()[keyOf(session, paymentId)];
  return typeof challenge === 'string' ? challenge : undefined;
}

/** Remembers a challenge for the run that has the code. */
async function keepChallenge(session: Session, paymentId: string, challengeId: string): Promise<void> {
  const { [keyOf(session, paymentId)]: _former, ...others } = readAll();
  const kept = Object.entries({ ...others, [keyOf(session, paymentId)]: challengeId }).slice(-MAX_KEPT);
  await writeAll(Object.fromEntries(kept));
}

/** Forgets one that is over. */
async function forgetChallenge(session: Session, paymentId: string): Promise<void> {
  const { [keyOf(session, paymentId)]: former, ...others } = readAll();
  if (former !== undefined) await writeAll(others);
}
