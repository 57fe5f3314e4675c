import type { ReactNode } from 'react';
import type { Payment } from '../../data/payments.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';

/** The text of each status. */
export const STATUS_TEXTS: Record<Payment['status'], TextKey> = {
  'Payment pending of authorization': 'payments.status.pending',
  'Validating beneficiary information': 'payments.status.validating',
  'Need more beneficiary information': 'payments.status.information',
  'Waiting for payment date': 'payments.status.date',
  'Executing Payment': 'payments.status.executing',
  'Payment complete': 'payments.status.complete',
  'Payment rejected': 'payments.status.rejected',
  'Payment cancelled': 'payments.status.cancelled',
};

const TONES: Partial<Record<Payment['status'], Tone>> = {
  'Payment pending of authorization': 'info',
  'Need more beneficiary information': 'warn',
  'Payment complete': 'good',
  'Payment rejected': 'bad',
};

/** The status of a payment in a word. */
export function PaymentStatus({ status }: { status: Payment['status'] }): ReactNode {
  const t = useText();
  return <Badge tone={TONES[status] ?? 'neutral'}>{t(STATUS_TEXTS[status])}</Badge>;
}
