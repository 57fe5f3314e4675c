import type { PaymentAction, Standing } from '../payments/moves.ts';
import { nextMove } from './course.ts';

/** How references steer the autopilot (docs/sandbox.md, Let payments move by themselves). Pure: no database, no clock. */

/** Intervals that the autopilot takes for each step of a slow payment. */
export const SLOW_INTERVALS = 10;

const STEERINGS = ['SIM-RETURN', 'SIM-INVALID', 'SIM-INFO', 'SIM-SLOW', 'SIM-STOP'] as const;
export type Steering = (typeof STEERINGS)[number];

/** What a payment's reference asks for. */
export function steeringOf(reference: string | null): Steering | undefined {
  return STEERINGS.find((steering) => reference?.startsWith(steering));
}

/**
 * The autopilot's next move of a payment; undefined: none. It never does what people must do, unless the reference says so:
 * approvals, information about a beneficiary, returns.
 * @param asked whether information about the beneficiary was asked for before
 */
export function steer(standing: Standing, steering: Steering | undefined, asked: boolean): PaymentAction | undefined {
  const { status, returnStarted } = standing;
  if (steering === 'SIM-STOP' || status === 'Payment pending of authorization') return undefined;
  if (steering === 'SIM-RETURN' && status === 'Payment complete') return returnStarted ? 'return' : 'start_return';
  if (returnStarted) return steering === 'SIM-RETURN' ? 'complete' : undefined;
  if (status === 'Need more beneficiary information' && steering !== 'SIM-INFO') return undefined;
  if (steering === 'SIM-INVALID' && status === 'Waiting for payment date') return 'invalidate';
  if (steering === 'SIM-INFO' && status === 'Validating beneficiary information' && !asked)
    return 'request_information';
  return nextMove(standing);
}
