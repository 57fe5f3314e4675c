import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useDeferredValue, useRef, useState } from 'react';
import { useLive } from '../../data/live.ts';
import { homeQuery, type RecentActivity } from '../../data/payments.ts';
import { Failure, Loading } from '../../design/states.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { Sums } from '../approvals/sums.tsx';
import { useClient } from '../client.tsx';
import { ActivityList } from '../payments/activity.tsx';
import './home.css';

/** What waits for the person, what it waits for, what is due, and what happened. */
export default function HomePage(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  useLive(clientId);
  const { data: found, error, refetch } = useQuery(homeQuery(clientId));
  const data = useDeferredValue(found);
  return (
    <Page title={t('home.title')}>
      {!data && (error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={8} />)}
      {data && (
        <>
          <div className="figures">
            <Figure name={t('home.waiting')} figure={data.waiting_for_me} to="/approvals">
              {data.due_for_me.count > 0 && t('home.waiting.due', { count: data.due_for_me.count })}
            </Figure>
            <Figure name={t('home.made')} figure={data.made_by_me} to="/approvals" search={{ tab: 'others' }} />
            <Figure
              name={t('home.due')}
              figure={data.due_today}
              to="/payments"
              search={{ status: 'pending_to_authorise', from_payment_date: data.today, to_payment_date: data.today }}
            >
              {data.due_today.count > 0 && t('home.due.text')}
            </Figure>
          </div>
          <Activity entries={data.activity} />
        </>
      )}
    </Page>
  );
}

/** What happened lately. While somebody points at it, it stays as it is. */
function Activity({ entries }: { entries: RecentActivity[] }): ReactNode {
  const t = useText();
  const [isHeld, setHeld] = useState(false);
  const shown = useRef(entries);
  if (!isHeld) shown.current = entries;
  return (
    <section
      className="card stack"
      aria-labelledby="recent-activity"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
    >
      <h2 id="recent-activity">{t('home.activity')}</h2>
      {entries.length === 0 ? (
        <p className="quiet">{t('home.activity.none')}</p>
      ) : (
        <ActivityList entries={shown.current} />
      )}
    </section>
  );
}

interface FigureProps {
  name: string;
  figure: { count: number; sums: { currency: string; count: number; amount: string }[] };
  to: string;
  search?: Record<string, string>;
  children?: ReactNode;
}

/** A number, what it comes to in each currency, and the way to what it counts. */
function Figure({ name, figure: { count, sums }, to, search = {}, children }: FigureProps): ReactNode {
  const t = useText();
  return (
    <section className="card figure">
      <h2>
        <Link to={to as never} search={search as never}>
          {name}
        </Link>
      </h2>
      <p className="figure-count">{t('home.count', { count })}</p>
      <Sums sums={sums} />
      {children && <p className="small quiet">{children}</p>}
    </section>
  );
}
