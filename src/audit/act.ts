/** A person of the institution: a subject of its OpenID provider. */
export interface StaffMember {
  issuer: string;
  subject: string;
}

/** Who changes something, when, and in which request: goes into the audit trail and into notifications. */
export interface Act {
  now: Date;
  /** `operator:<token name>`, `staff:<name>`, `contact:<contact_id>` or `service:<part>`. */
  actor: string;
  /** The person behind `staff:<name>`, as the institution's OpenID provider knows it. */
  staff?: StaffMember | undefined;
  /** Why, in the words of the person who does it. */
  reason?: string | undefined;
  requestId: string;
  /** Its changes have one audit row together, which is written by the code that makes the whole: `audit` writes none for them. */
  summarised?: true;
  /** Nobody is told of it by mail: an import without `?notify=true`. */
  quiet?: boolean;
}
