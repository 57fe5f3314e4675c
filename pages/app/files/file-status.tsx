import type { ReactNode } from 'react';
import type { MassPayment } from '../../data/files.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { useText } from '../../texts/text.tsx';

type Status = MassPayment['mass_payment_status'];

const TONES: Partial<Record<Status, Tone>> = { Processed: 'info', Created: 'good', Failed: 'bad' };

/** The status of a file, in one word. */
export function FileStatus({ status }: { status: Status }): ReactNode {
  const t = useText();
  return <Badge tone={TONES[status] ?? 'neutral'}>{t(`files.status.${status}`)}</Badge>;
}
