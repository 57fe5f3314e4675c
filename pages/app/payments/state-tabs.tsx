import { Link } from '@tanstack/react-router';
import { type ReactNode, useRef } from 'react';
import type { SearchTexts } from '../../data/payments.ts';
import { useChosenInSight } from '../../design/tab-line.ts';
import { useText } from '../../texts/text.tsx';
import '../../design/tabs.css';

/** The states that people think in, by filter value; '' means all. */
const STATES = ['', 'pending_to_authorise', 'authorised', 'complete', 'rejected', 'cancelled'] as const;

/** The states of a search as tabs, one of which is selected. The other filters stay. */
export function StateTabs({ search }: { search: SearchTexts }): ReactNode {
  const t = useText();
  const { page: _, status = '', ...rest } = search;
  const line = useRef<HTMLElement>(null);
  useChosenInSight(line, '[aria-current]', status);
  return (
    <nav ref={line} className="tab-line state-tabs" aria-label={t('payments.states')}>
      {STATES.map((state) => (
        <Link
          key={state}
          to="."
          search={(state === '' ? rest : { ...rest, status: state }) as never}
          activeOptions={{ exact: true, includeSearch: true }}
          aria-current={state === status ? 'true' : undefined}
        >
          {t(state === '' ? 'payments.states.all' : `payments.filter.status.${state}`)}
        </Link>
      ))}
    </nav>
  );
}
