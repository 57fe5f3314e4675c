import {
  MOVES,
  mayMove,
  PAYMENT_STATUSES,
  type PaymentAction,
  type PaymentStatus,
  type Standing,
} from '../payments/moves.ts';

/**
 * Which moves of the lifecycle lead where (docs/sandbox.md, Advance a payment). Pure: no database, no clock.
 */

/** Where a payment can be asked to go. `next` is the next step of the ordinary course, `returned` a return to its end. */
export const DESTINATIONS = ['next', ...PAYMENT_STATUSES, 'returned'] as const;
export type Destination = (typeof DESTINATIONS)[number];

/** The ordinary course of a payment. `authorise` stands for all the approvals that are missing. */
const ORDINARY: readonly PaymentAction[] = ['authorise', 'provide_information', 'validate', 'send', 'complete'];

/** The moves that can end a way, apart from the ordinary ones. */
const LAST_MOVES: Partial<Record<Destination, readonly PaymentAction[]>> = {
  'Need more beneficiary information': ['request_information'],
  returned: ['start_return', 'return'],
};

/** The next move of the ordinary course; undefined in a final state. A return that has started is ended. */
export function nextMove(standing: Standing): PaymentAction | undefined {
  return standing.returnStarted ? 'return' : ORDINARY.find((action) => mayMove(standing, action));
}

/**
 * The shortest legal way of a payment to a destination.
 * @returns its moves in their order; undefined if there is no way, or if the payment has that status already
 */
export function wayTo(standing: Standing, to: Destination): PaymentAction[] | undefined {
  if (to === 'next') return only(nextMove(standing));
  if (to === standing.status) return undefined;
  // One decision each, of a payment that is where the decision is legal: nobody sends a payment in order to cancel it.
  if (to === 'Payment rejected') return only(mayMove(standing, 'reject') ? 'reject' : undefined);
  if (to === 'Payment cancelled')
    return only((['cancel', 'invalidate'] as const).find((action) => mayMove(standing, action)));
  return shortestWay(standing, to);
}

function only(action: PaymentAction | undefined): PaymentAction[] | undefined {
  return action && [action];
}

/** Breadth first over the few standings that a payment can have. */
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
