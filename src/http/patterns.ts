const HEX = '[0-9a-fA-F]';

/** The forms of texts that several schemas ask for. validation.ts has the words for each. */
export const PATTERNS = {
  /** An identifier that the institution's core chose, or the service (docs/decisions.md, 1). A path cannot name `.` and `..`. */
  id: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  uuid: `^${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}$`,
  /** Version 4 (RFC 9562, 5.4). */
  randomUuid: `^${HEX}{8}-${HEX}{4}-4${HEX}{3}-[89abAB]${HEX}{3}-${HEX}{12}$`,
  /** ISO 4217. */
  currency: '^[A-Z]{3}$',
  /** Something to read. */
  notBlank: '\\S',
  day: '^\\d{4}-\\d{2}-\\d{2}$',
  email: '^[^\\s@<>"]+@[^\\s@<>"]+$',
  phone: '^\\+?[0-9 ()-]{4,32}$',
  /** Of the audit trail: position and hash. */
  head: `^[1-9]\\d{0,14}:${HEX}{64}$`,
  /** Or `SWBIC`. */
  clearingSystem: '^[A-Z]{5}$',
  /** Of a refused request, or a class of statuses. */
  refusedStatus: '^[45](\\d\\d|xx)$',
  status: '^[1-5](\\d\\d|xx)$',
  currencies: '^([A-Z]{3},?)+$',
} as const;
