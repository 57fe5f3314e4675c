import type { StaffMember } from '../audit/act.ts';
import type { Transaction } from '../database/database.ts';
import type { Scope } from './scope.ts';
import { confirmStaffSession } from './staff-session.ts';
import { confirmOperatorToken, type OperatorToken } from './token.ts';

/** Who makes a request of the operator interface: a program with a token, or a person on the institution's pages. */
export interface Operator {
  /** Of the token or the person. */
  name: string;
  /** As the audit trail has it: `operator:<token name>` or `staff:<name>`. */
  actor: string;
  scopes: readonly Scope[];
  staff?: StaffMember | undefined;
  tokenId?: string | undefined;
  /** Of the pages. */
  sessionId?: string | undefined;
}

export function operatorOfToken({ id, name, scopes }: OperatorToken): Operator {
  return { name, actor: `operator:${name}`, scopes, tokenId: id };
}

/**
 * Checks, within the transaction of a change, that the token is still valid and the person still signed in: a change is refused from the
 * moment on at which the revocation or the sign-out was answered.
 * @throws Problem authentication_failed, token_expired
 */
export async function confirmOperator(tx: Transaction, { tokenId, sessionId }: Operator, now: Date): Promise<void> {
  if (tokenId !== undefined) await confirmOperatorToken(tx, tokenId, now);
  if (sessionId !== undefined) await confirmStaffSession(tx, sessionId, now);
}
