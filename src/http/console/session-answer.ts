import type { Scope } from '../../operator/scope.ts';
import type { OperatorRole } from '../../settings/staff-settings.ts';

/** GET /console/session: who is signed in, what they may do, and how long the session lasts. */
export interface StaffSessionAnswer {
  name: string;
  /** Who it is, as pages send it back in `X-Lombard-Person`. */
  person: string;
  signed_in_with: 'token' | 'provider';
  roles: OperatorRole[];
  scopes: readonly Scope[];
  /** The service's clock. */
  now: string;
  /** How long nothing may be done. */
  idle_seconds: number;
  idle_at: string;
  expires_at: string;
}
