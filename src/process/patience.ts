/** How long callers may keep the service waiting, in milliseconds. */
export interface Patience {
  /** For a request's head and body to arrive. A caller that sends them drop by drop is disconnected. */
  requestMs: number;
  /** For the rest of a body after the request was answered, for example with a 401, which is sent before the body is read. */
  answeredMs: number;
  /** For a caller to take more of an answer that holds a database connection. */
  untakenMs: number;
  /** For the caller of an import to send the required minimum while the service is ready to read. */
  paceMs: number;
  /** For an import to wait for its turn, with its body unread. */
  turnMs: number;
  /** Before the end of a stop, when imports are interrupted. */
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
