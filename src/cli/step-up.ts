import { type Challenge, LombardError } from '../../sdk/src/index.ts';
import { forgetChallenge, keepChallenge, openChallenge } from './challenges.ts';
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
