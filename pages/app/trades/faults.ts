import { CallError } from '../../data/call-error.ts';

interface Placing {
  /** The form field that holds the body's amount. */
  amount: string;
  /** The message for a field that was left out. */
  required: string;
}

/** The service's message for each field of a form that orders a trade. */
export function faultsOf(error: Error, { amount, required }: Placing): Map<string, string> {
  if (!(error instanceof CallError)) return new Map();
  const { code, details, faults } = error;
  if (code === 'insufficient_funds') return new Map([['funding_account_id', details]]);
  if (code === 'trade_amount_exceeded') return new Map([[amount, details]]);
  const placed = [...faults].map(([field, fault]): [string, string] => [
    field === 'amount' ? amount : field,
    fault.code === 'required' ? required : fault.message,
  ]);
  return new Map(placed);
}
