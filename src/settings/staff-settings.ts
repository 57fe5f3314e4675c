import { StartupError } from '../values/errors.ts';
import { needs, type Settings, wrong } from './settings.ts';

/** A person has the role if the claim has this value. */
export interface StaffRole {
  claim: string;
  value: string;
  role: OperatorRole;
}

/** The OpenID provider where the institution's staff signs in to its pages. */
export interface StaffSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  roles: StaffRole[];
}

/** The claim ends at the first colon that is not part of `://`, so it may be an address. */
const CLAIM_END = /(?<=.):(?!\/\/)/;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Reads who may sign in to the institution's pages.
 * @returns undefined if no issuer is configured; then people sign in with operator tokens
 * @throws StartupError one line that names the variable, what it must be, and what it is (never for a secret)
 */
export function readStaff(settings: Settings, environment: 'sandbox' | 'production'): StaffSettings | undefined {
  const issuer = settings.url('LOMBARD_STAFF_ISSUER', ['http:', 'https:'], { secret: false });
  const given = {
    LOMBARD_STAFF_CLIENT_ID: settings.text('LOMBARD_STAFF_CLIENT_ID'),
    LOMBARD_STAFF_CLIENT_SECRET: settings.secret('LOMBARD_STAFF_CLIENT_SECRET', 1),
    LOMBARD_STAFF_ROLES: settings.text('LOMBARD_STAFF_ROLES'),
  };
  if (issuer === undefined) {
    const lonely = Object.entries(given).find(([, value]) => value !== undefined);
    if (lonely) throw needs(lonely[0], 'LOMBARD_STAFF_ISSUER');
    return undefined;
  }
  const needed = (name: keyof typeof given): string => {
    const value = given[name];
    if (value === undefined) throw needs('LOMBARD_STAFF_ISSUER', name, issuer);
    return value;
  };
  const clientId = needed('LOMBARD_STAFF_CLIENT_ID');
  const clientSecret = needed('LOMBARD_STAFF_CLIENT_SECRET');
  needed('LOMBARD_STAFF_ROLES');
  const { protocol, hostname } = new URL(issuer);
  if (protocol === 'http:' && (environment === 'production' || !LOOPBACK.test(hostname)))
    throw wrong(
      'LOMBARD_STAFF_ISSUER',
      'an address that begins with https:// (http:// only in the sandbox, on loopback)',
      issuer,
    );
  return { issuer, clientId, clientSecret, roles: settings.list('LOMBARD_STAFF_ROLES').map(readRole) };
}

function readRole(item: string): StaffRole {
  const [colon, equals] = [item.search(CLAIM_END), item.lastIndexOf('=')];
  const known = OPERATOR_ROLES.find((name) => name === item.slice(equals + 1));
  // A claim and a value each have at least one character.
  if (!known || colon < 0 || equals < colon + 2)
    throw new StartupError(
      `LOMBARD_STAFF_ROLES: must be a list of claim:value=role (role: ${OPERATOR_ROLES.join(', ')}), not "${item}"`,
    );
  return { claim: item.slice(0, colon), value: item.slice(colon + 1, equals), role: known };
}

/** Roles at the institution. src/operator/scope.ts says what each may do. */
export const OPERATOR_ROLES = ['admin', 'core', 'identity', 'support', 'auditor'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];
