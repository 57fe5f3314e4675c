/** For how long callers may keep the service waiting, in milliseconds. */
export interface Patience {
  /** For a request's head and body to arrive: a caller that sends them drop by drop is disconnected. */
  requestMs: number;
  /** That a body may still arrive once its request is answered, as a 401 is before its body is read. */
  answeredMs: number;
  /** For which a caller may take nothing of an answer that holds a database connection. */
  untakenMs: number;
  /** In which the caller of an import sends the least that it has to, while the service is ready to read. */
  paceMs: number;
  /** That an import waits for its turn, its body unread. */
  turnMs: number;
  /** Before the end of a stop at which imports are interrupted. */
  interruptedMs: number;
}

export const PATIENCE: Readonly<Patience> = {
  requestMs: 60_000,
  answeredMs: 5_000,
  untakenMs: 60_000,
  paceMs: 30_000,
  turnMs: 10_000,
  interruptedMs: 3_000,
};
