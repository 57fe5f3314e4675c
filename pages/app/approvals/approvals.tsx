import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useLive } from '../../data/live.ts';
import { waitingQuery } from '../../data/payments.ts';
import { Tabs } from '../../design/tabs.tsx';
import { Page } from '../../frame/page.tsx';
import { firstOf, type Search } from '../../frame/search.ts';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { DoneByMe } from './done.tsx';
import { WaitingForMe } from './waiting-for-me.tsx';
import { WaitingForOthers } from './waiting-for-others.tsx';

const TABS = ['mine', 'others', 'done'] as const;

/** The payments that wait for an approval, whose approval they need, and what the person has already done. */
export default function ApprovalsPage(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  useLive(clientId);
  const navigate = useNavigate();
  const tab = useSearch({ strict: false, select: (search: Search) => firstOf(search.tab) });
  const mine = useQuery(waitingQuery(clientId, 'your', 1)).data?.total;
  const others = useQuery(waitingQuery(clientId, 'others', 1)).data?.total;
  return (
    <Page title={t('approvals.title')}>
      <Tabs
        name={t('approvals.title')}
        selected={TABS.find((each) => each === tab) ?? 'mine'}
        onSelect={(id) =>
          void navigate({ to: '.', search: (id === 'mine' ? {} : { tab: id }) as never, replace: true })
        }
        tabs={[
          { id: 'mine', title: t('approvals.mine'), ...counted(mine), content: () => <WaitingForMe /> },
          { id: 'others', title: t('approvals.others'), ...counted(others), content: () => <WaitingForOthers /> },
          { id: 'done', title: t('approvals.done'), content: () => <DoneByMe /> },
        ]}
      />
    </Page>
  );
}

function counted(count: number | undefined): { count?: number } {
  return count === undefined ? {} : { count };
}
