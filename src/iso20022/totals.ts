import { plain, sum } from '../values/money.ts';

/**
 * Whether the totals in a file or a block agree with its transactions.
 * @param told NbOfTxs and CtrlSum as they were written; an omitted one is not compared
 * @param transactions with their amounts, whatever their currencies
 */
export function faultOfTotals(
  told: { count?: string | undefined; sum?: string | undefined },
  transactions: readonly { amount: string }[],
): { of: 'count' | 'sum'; details: string } | undefined {
  if (told.count !== undefined && BigInt(told.count) !== BigInt(transactions.length))
    return { of: 'count', details: `NbOfTxs does not agree with the transactions: there are ${transactions.length}` };
  if (told.sum === undefined) return undefined;
  const total = transactions.reduce((before, { amount }) => sum(before, amount), '0');
  if (plain(told.sum) === plain(total)) return undefined;
  return { of: 'sum', details: `CtrlSum does not agree with the amounts: their sum is ${total}` };
}
