import type { Context } from '../context.ts';

/** What the JSON form of a payment depends on besides the payment itself. */
export interface Presentation {
  /** The client API's public address, for the document links. */
  apiUrl: string;
  /** The day (`YYYY-MM-DD`) after which uuids are used for tracking: LOMBARD_TRACKING_CUTOFF. */
  trackingCutoff: string;
}

/** The presentation of this service. Call it when you need it: the public address is final only once the client API listens. */
export function presentationOf({ addresses, config }: Context): Presentation {
  return { apiUrl: addresses.api, trackingCutoff: config.trackingCutoff };
}

/** The view of payments: who looks at them, and when. */
export interface PaymentView extends Presentation {
  clientId: string;
  /** The contact who asks, for the actions it may take; null if it is not a particular contact (events, the operator). */
  viewer: string | null;
  /** Whether the institution asks. Then payments name their client, and approvals the operator tokens that gave them. */
  institution?: boolean;
  now: Date;
}
