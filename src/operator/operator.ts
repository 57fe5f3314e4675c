import type { StaffMember } from '../audit/act.ts';
import type { Transaction } from '../database/database.ts';
import type { Scope } from './scope.ts';
import { confirmStaffSession } from './staff-session.ts';
import { confirmOperatorToken, type OperatorToken } from './token.ts';

/** Who makes a request to the operator interface: a program with a token, or a person on the institution's pages. */
export interface Operator {
  /** The name of the token or the person. */
  name: string;
  /** In the form of the audit trail: `operator:<token name>` or `staff:<name>`. */
  actor: string;
  scopes: readonly Scope[];
  staff?: StaffMember | undefined;
  tokenId?: string | undefined;
  /** The session on the pages. */
  sessionId?: string | undefined;
}

export function operatorOfToken({ id, name, scopes }: OperatorToken): Operator {
  return { name, actor: `operator:${name}`, scopes, tokenId: id };
}

/**
 * Checks, within the transaction of a change, that the token is still valid and the person still signed in. A change is refused as soon as
 * the revocation or the sign-out has been answered.
 * @throws Problem authentication_failed, token_expired
 */
export async function confirmOperator(tx: Transaction, { tokenId, sessionId }: Operator, now: Date): Promise<void> {
  if (tokenId !== undefined) await confirmOperatorToken(tx, tokenId, now);
  if (sessionId !== undefined) await confirmStaffSession(tx, sessionId, now);
}
