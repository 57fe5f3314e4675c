import type { ReactNode } from 'react';
import type { ListedTrade } from '../../data/trades.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { useText } from '../../texts/text.tsx';

type Status = ListedTrade['status'];

/** The statuses of a trade, in their order. */
export const STATUSES = [
  ...(['Created', 'Funds In Partially', 'Funds In Full', 'Funds Out Partially Allocated'] as const),
  ...(['Funds Out Full Allocated', 'Closed', 'Cancelled', 'Rejected'] as const),
] as const satisfies readonly Status[];

const TONES: Partial<Record<Status, Tone>> = {
  Created: 'info',
  'Funds In Partially': 'warn',
  Closed: 'good',
  Rejected: 'bad',
};

/** The status of a trade in words. */
export function TradeStatus({ status }: { status: Status }): ReactNode {
  const t = useText();
  return <Badge tone={TONES[status] ?? 'neutral'}>{t(`trades.status.${status}`)}</Badge>;
}

/** Whether money may still go out of a trade. */
export function isOpen({ status }: { status: Status }): boolean {
  return !(['Closed', 'Cancelled', 'Rejected'] as Status[]).includes(status);
}
