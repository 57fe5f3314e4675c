import type { OperatorRole } from '../settings/operator-role.ts';
import type { StaffRole } from '../settings/staff-settings.ts';
import { SCOPES, SCOPES_OF, type Scope } from './scope.ts';

/** What the institution's provider says of a person, as far as roles depend on it. */
export type RoleClaims = Record<string, unknown>;

/** The claims that roles are made of. */
export function roleClaims(roles: readonly StaffRole[], claims: RoleClaims): RoleClaims {
  return Object.fromEntries(roles.flatMap(({ claim }) => (claim in claims ? [[claim, claims[claim]]] : [])));
}

/** The roles of a person, and the scopes of all of them together, in the order of the catalogue. */
export function rolesOf(roles: readonly StaffRole[], claims: RoleClaims): { roles: OperatorRole[]; scopes: Scope[] } {
  const own = roles.filter(({ claim, value }) => has(claims[claim], value)).map(({ role }) => role);
  const scopes = SCOPES.filter((scope) => own.some((role) => SCOPES_OF[role].includes(scope)));
  return { roles: [...new Set(own)], scopes };
}

/** A claim is a text or a list of texts. */
function has(claim: unknown, value: string): boolean {
  return Array.isArray(claim) ? claim.includes(value) : claim === value;
}
