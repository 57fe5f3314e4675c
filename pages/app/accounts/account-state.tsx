import type { ReactNode } from 'react';
import type { AccountOverview } from '../../data/accounts.ts';
import { Badge, type Tone } from '../../design/badge.tsx';
import { useText } from '../../texts/text.tsx';

type Status = AccountOverview['accounts'][number]['status'];

const TONES: Record<Status, Tone> = { Enabled: 'good', Disabled: 'warn', Deleted: 'neutral' };

/** Whether an account can be paid into. */
export function AccountState({ status }: { status: Status }): ReactNode {
  const t = useText();
  return <Badge tone={TONES[status]}>{t(`accounts.state.${status}`)}</Badge>;
}
