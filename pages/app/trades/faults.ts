import { CallError } from '../../data/call-error.ts';
import type { SayRefusal } from '../../design/refusal.ts';

interface Placing {
  /** The form field that holds the body's amount. */
  amount: string;
  /** The message for a field that was left out. */
  required: string;
  say: SayRefusal;
}

/** Why the service refuses each field of a form that orders a trade. */
export function faultsOf(error: Error, { amount, required, say }: Placing): Map<string, string> {
  if (!(error instanceof CallError)) return new Map();
  const { code, details, faults } = error;
  if (code === 'insufficient_funds') return new Map([['funding_account_id', say({ code, details })]]);
  if (code === 'trade_amount_exceeded') return new Map([[amount, say({ code, details })]]);
  const placed = [...faults].map(([field, fault]): [string, string] => [
    field === 'amount' ? amount : field,
    fault.code === 'required' ? required : say({ code: fault.code, details: fault.message }),
  ]);
  return new Map(placed);
}
