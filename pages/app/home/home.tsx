import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useDeferredValue } from 'react';
import { useLive } from '../../data/live.ts';
import { homeQuery, outlookQuery } from '../../data/payments.ts';
import { Failure, Loading } from '../../design/states.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { Sums } from '../approvals/sums.tsx';
import { useClient } from '../client.tsx';
import { Have } from './have.tsx';
import { LeavingPayments } from './leaving.tsx';
import { Recent } from './recent.tsx';
import { WhatWentWrong } from './wrong.tsx';
import './home.css';

/** What waits for the person, what the client has, what leaves soon, what failed, and what happened. */
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
          <Have />
          <div className="home-columns">
            <Outlook />
            <Recent entries={data.activity} />
          </div>
        </>
      )}
    </Page>
  );
}

/** Upcoming payments, and failures. */
function Outlook(): ReactNode {
  const { client_id: clientId } = useClient();
  const { data, error, refetch } = useQuery(outlookQuery(clientId));
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={4} />;
  return (
    <>
      <LeavingPayments {...data} />
      <WhatWentWrong wrong={data.wrong} setbacks={data.setbacks} />
    </>
  );
}

/** Currencies of a figure that are shown at first. */
const SUMS_SHOWN = 8;

interface FigureProps {
  name: string;
  figure: { count: number; sums: { currency: string; count: number; amount: string }[] };
  to: string;
  search?: Record<string, string>;
  children?: ReactNode;
}

/** A count, its sum in each currency, and a link to the records. */
function Figure({ name, figure: { count, sums }, to, search = {}, children }: FigureProps): ReactNode {
  const t = useText();
  return (
    <section className="card figure">
      <h2>
        <Link to={to as never} search={search as never}>
          {name}
        </Link>
      </h2>
      <p className={count === 0 ? 'figure-count none' : 'figure-count'}>{t('home.count', { count })}</p>
      <Sums sums={sums.slice(0, SUMS_SHOWN)} />
      {sums.length > SUMS_SHOWN && (
        <details>
          <summary className="small">{t('home.sums.more', { count: sums.length - SUMS_SHOWN })}</summary>
          <Sums sums={sums.slice(SUMS_SHOWN)} />
        </details>
      )}
      {children && <p className="small quiet">{children}</p>}
    </section>
  );
}
