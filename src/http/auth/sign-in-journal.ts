import type { FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { OAuthError, type Refusal } from '../../identity/oauth-error.ts';
import { MAX_EMAIL_LENGTH } from '../../identity/sign-in/sign-in.ts';
import type { SignInOutcome } from '../../monitoring/sign-in-attempts.ts';
import { signInsTotal } from '../../process/metrics.ts';

interface Attempt {
  outcome: SignInOutcome;
  application: string;
  contactId?: string | undefined;
  /** As it was typed, if the contact is not known. */
  email?: string | undefined;
}

/** Records an attempt to sign in, with the address that it came from. */
export function noteSignIn(context: Context, request: FastifyRequest, attempt: Attempt): void {
  signInsTotal.inc({ outcome: attempt.outcome });
  context.journals.signIns.note({
    outcome: attempt.outcome,
    contact_id: attempt.contactId ?? null,
    email: attempt.email?.normalize('NFC').trim().slice(0, MAX_EMAIL_LENGTH) ?? null,
    application: attempt.application,
    address: context.addressOf(request.raw),
    request_id: request.id,
  });
}

const OUTCOMES: Partial<Record<Refusal, SignInOutcome>> = {
  wrong_password: 'wrong_password',
  locked: 'locked',
  wrong_code: 'second_factor_failed',
  expired: 'second_factor_expired',
};

/** The outcome of an attempt that failed with an error; undefined if it was not an attempt, such as a request without a password. */
export function outcomeOf(error: unknown): SignInOutcome | undefined {
  return error instanceof OAuthError && error.refusal ? OUTCOMES[error.refusal] : undefined;
}
