import type { Endpoint } from './endpoint.ts';
import type { Endpoints } from './endpoints.ts';

/** Deliveries that one statement claims at most. */
const MAX_CLAIMED = 500;

/** Decides whose deliveries are claimed next: one client after the other, so that the backlog of one does not delay the others. */
export class ClaimTurns {
  readonly #endpoints: Endpoints;
  /** The client whose turn was last; the empty text where every client has had its turn. */
  #last = '';

  constructor(endpoints: Endpoints) {
    this.#endpoints = endpoints;
  }

  /**
   * How many deliveries to claim of which subscriptions, beginning with the client after the one whose turn was last.
   * @param now milliseconds of service time
   */
  next(now: number): Map<string, number> {
    const candidates: { endpoint: Endpoint; room: number }[] = [];
    for (const endpoint of this.#endpoints.all()) {
      if (!endpoint.mayClaim(now)) continue;
      const room = this.#endpoints.room(endpoint);
      if (room > 0) candidates.push({ endpoint, room });
    }
    const hadTurn = (clientId: string) => (clientId > this.#last ? 0 : 1);
    candidates.sort((a, b) => {
      const [one, other] = [a.endpoint.settings.clientId, b.endpoint.settings.clientId];
      return hadTurn(one) - hadTurn(other) || (one < other ? -1 : 1);
    });
    const wanted = new Map<string, number>();
    let left = MAX_CLAIMED;
    for (const { endpoint, room } of candidates) {
      if (left <= 0) break;
      wanted.set(endpoint.id, Math.min(room, left));
      left -= room;
      this.#last = endpoint.settings.clientId;
    }
    if (left > 0) this.#last = '';
    return wanted;
  }
}
