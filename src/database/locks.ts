/**
 * Every advisory lock of the program. Nobody else uses the database, but all locks share PostgreSQL's one space of numbers. The locks of
 * approvals (approvals/lock.ts) are 64-bit hashes of a client's id.
 */
export const LOCKS = {
  /** One process migrates while the others wait. */
  migration: 7_210_431,
  /** One process seals the audit chain. */
  auditSeal: 7_210_432,
  /** One process rolls up payment totals. */
  paymentTotals: 7_210_433,
  /** Operator tokens are created one at a time, because their names are unique. */
  operatorTokens: 7_210_434,
  /** With the hash of an idempotency key: one import at a time runs under it. */
  importKey: 7_210_435,
  /** One process runs the sandbox's autopilot. */
  autopilot: 7_210_436,
  /** One process creates the demonstration institution. */
  demonstration: 7_210_437,
  /** With the hash of the id of a statement's delivery: one process works on it. */
  statementDelivery: 7_210_438,
  /** With the hash of a subject: sign-in attempts are counted one at a time. Taken in migrations/0003_sign_in.sql. */
  signInAttempts: 7_210_439,
  /** With the id of a webhook worker: held while it is alive. */
  webhookWorker: 7_210_440,
  /** One process makes partitions of the event log. Taken in migrations/0008_webhooks.sql. */
  webhookPartitions: 7_210_441,
  /** With the hash of an import's id: held while it is running. */
  import: 7_210_450,
  /** One process sends the mails about payments and forgotten passwords. */
  mails: 7_210_448,
  /** One process gathers what people are to be told, in each cell. */
  mailNotices: 7_210_449,
  /** One process makes partitions of the audit trail. Taken in migrations/0014_audit_chain.sql. */
  auditPartitions: 7_210_446,
  /** One process erases persons. */
  erasure: 7_210_447,
  /** With the hash of a client's id: held while a command moves it to another cell. */
  clientMove: 7_210_451,
  /** One process looks for claims without a record. */
  claimSweep: 7_210_452,
  /** With the hash of a client, a name and an account: equal beneficiaries are created one at a time. */
  payee: 7_210_453,
  /** With the hash of a client's and a contact's id: the open quotes of a contact are counted one at a time. */
  openQuotes: 7_210_454,
  /** One process publishes changes. */
  changePublisher: 7_210_445,
} as const;
