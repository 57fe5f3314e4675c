import type { Finds } from '../../../src/payments/views/find.ts';
import type { SearchTexts } from '../../data/payments.ts';

/**
 * The filters that a search text most likely means, judged by what it matches: an id or UETR, a reference, an amount, a payee. A text that
 * matches nothing is treated as a reference.
 */
export function understood(text: string, { payments, payees }: Pick<Finds, 'payments' | 'payees'>): SearchTexts {
  if (payments.some(({ reference }) => reference === text)) return { reference: text };
  if (payments.length > 0) return { payment_ids: payments.map(({ payment_id: id }) => id).join(',') };
  const [payee] = payees;
  return payee ? { beneficiary_id: payee.beneficiary_id } : { reference: text };
}
