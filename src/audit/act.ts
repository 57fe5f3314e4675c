/** A person of the institution: a subject of its OpenID provider. */
export interface StaffMember {
  issuer: string;
  subject: string;
}

/** Who changes something, when, and in which request. It goes into the audit trail and into notifications. */
export interface Act {
  now: Date;
  /** `operator:<token name>`, `staff:<name>`, `contact:<contact_id>` or `service:<part>`. */
  actor: string;
  /** The person behind `staff:<name>`, in the words of the institution's OpenID provider. */
  staff?: StaffMember | undefined;
  /** The reason, in the words of the person who acts. */
  reason?: string | undefined;
  requestId: string;
  /** Set if its changes share one audit row, which is written by the code that makes all of them. `audit` then writes none. */
  summarised?: true;
  /** Nobody gets a mail about it: an import without `?notify=true`. */
  quiet?: boolean;
}
