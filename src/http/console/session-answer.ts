import type { Scope } from '../../operator/scope.ts';
import type { OperatorRole } from '../../settings/staff-settings.ts';

/** The answer of GET /console/session: who is signed in, what they may do, and how long the session lasts. */
export interface StaffSessionAnswer {
  name: string;
  /** Identifies the person. Pages send it back in `X-Lombard-Person`. */
  person: string;
  signed_in_with: 'token' | 'provider';
  roles: OperatorRole[];
  scopes: readonly Scope[];
  /** The time of the service's clock. */
  now: string;
  /** Seconds without activity after which the session ends. */
  idle_seconds: number;
  idle_at: string;
  expires_at: string;
}
