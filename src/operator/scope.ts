import type { OperatorRole } from '../settings/staff-settings.ts';
import { Problem } from '../values/errors.ts';

/** The scopes that an operator token can have (docs/operator-interface.md, Tokens). */
export const SCOPES = [
  'read',
  'feed',
  'identity',
  'approvals',
  'redeliver',
  'unlock',
  'changes',
  'audit',
  'system',
] as const;
export type Scope = (typeof SCOPES)[number];

/** The scopes of each role. */
export const SCOPES_OF: Record<OperatorRole, readonly Scope[]> = {
  admin: SCOPES,
  core: ['read', 'feed', 'changes'],
  identity: ['read', 'identity'],
  support: ['read', 'redeliver', 'unlock'],
  auditor: ['read', 'audit'],
};

/** The fields of a client that determine who must approve its payments, and how much it may order. Changing them needs `approvals`. */
const APPROVAL_FIELDS = [
  'authorisation_workflow',
  'payment_approvals_enabled',
  'payment_creator_approval_enabled',
  'approval_step_up',
  'daily_payment_limit',
];

/** Whether the body of a client has a field that concerns approvals. */
export function hasApprovalFields(client: object): boolean {
  return APPROVAL_FIELDS.some((field) => field in client);
}

/** The scopes that a change of a client needs: one for each kind of field in it. */
export function scopesOfClientChange(client: object): Scope[] {
  const approval = hasApprovalFields(client);
  const feed = !approval || Object.keys(client).some((field) => !APPROVAL_FIELDS.includes(field));
  return [...(feed ? ['feed' as const] : []), ...(approval ? ['approvals' as const] : [])];
}

/** A scope that another one includes: whoever may set a password may lift a lock. */
const INCLUDED: Partial<Record<Scope, Scope>> = { identity: 'unlock' };

/** @throws Problem permission_denied, which names the first missing scope */
export function requireScopes({ scopes }: { scopes: readonly Scope[] }, needed: readonly Scope[]): void {
  requireOwnScopes({ scopes: scopes.flatMap((scope) => [scope, INCLUDED[scope] ?? scope]) }, needed);
}

/** Checks the scopes that a token gives to another one. It must have each of them itself. */
export function requireOwnScopes({ scopes }: { scopes: readonly Scope[] }, needed: readonly Scope[]): void {
  const missing = needed.find((scope) => !scopes.includes(scope));
  if (missing !== undefined) throw new Problem('permission_denied', `token: needs the scope ${missing}`);
}
