import {
  MOVES,
  mayMove,
  PAYMENT_STATUSES,
  type PaymentAction,
  type PaymentStatus,
  type Standing,
} from '../payments/moves.ts';

/** Which moves of the lifecycle lead to which state (docs/sandbox.md, Advance a payment). Pure: no database, no clock. */

/** The states to which a payment can be advanced. `next` is the next step of the ordinary course; `returned` is a completed return. */
export const DESTINATIONS = ['next', ...PAYMENT_STATUSES, 'returned'] as const;
export type Destination = (typeof DESTINATIONS)[number];

/** The ordinary course of a payment. `authorise` stands for all missing approvals. */
const ORDINARY: readonly PaymentAction[] = ['authorise', 'provide_information', 'validate', 'send', 'complete'];

/** The moves, apart from the ordinary ones, that can be the last on the way to a state. */
const LAST_MOVES: Partial<Record<Destination, readonly PaymentAction[]>> = {
  'Need more beneficiary information': ['request_information'],
  returned: ['start_return', 'return'],
};

/** The next move of the ordinary course; undefined in a final state. A return that has started is completed. */
export function nextMove(standing: Standing): PaymentAction | undefined {
  return standing.returnStarted ? 'return' : ORDINARY.find((action) => mayMove(standing, action));
}

/**
 * The shortest legal way of a payment to a state.
 * @returns its moves in order; undefined if there is no way, or if the payment already has that status
 */
export function wayTo(standing: Standing, to: Destination): PaymentAction[] | undefined {
  if (to === 'next') return only(nextMove(standing));
  if (to === standing.status) return undefined;
  // These are single decisions, made where they are legal: nobody sends a payment in order to cancel it.
  if (to === 'Payment rejected') return only(mayMove(standing, 'reject') ? 'reject' : undefined);
  if (to === 'Payment cancelled')
    return only((['cancel', 'invalidate'] as const).find((action) => mayMove(standing, action)));
  return shortestWay(standing, to);
}

function only(action: PaymentAction | undefined): PaymentAction[] | undefined {
  return action && [action];
}

/** Searches breadth first over the few states that a payment can have. */
function shortestWay(from: Standing, to: Destination): PaymentAction[] | undefined {
  const moves = [...ORDINARY, ...(LAST_MOVES[to] ?? [])];
  const ways: { standing: Standing; way: PaymentAction[] }[] = [{ standing: from, way: [] }];
  const seen = new Set([nameOf(from)]);
  for (const { standing, way } of ways) {
    for (const action of moves.filter((move) => mayMove(standing, move))) {
      const longer = [...way, action];
      const reached = after(standing, action);
      if (to === 'returned' ? action === 'return' : reached.status === to) return longer;
      if (seen.has(nameOf(reached))) continue;
      seen.add(nameOf(reached));
      ways.push({ standing: reached, way: longer });
    }
  }
  return undefined;
}

function nameOf({ status, returnStarted }: Standing): string {
  return `${status} ${returnStarted}`;
}

function after(standing: Standing, action: PaymentAction): Standing {
  const to: PaymentStatus | null = MOVES[action].to;
  return { status: to ?? standing.status, returnStarted: action === 'start_return' };
}
