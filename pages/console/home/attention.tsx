import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { callOperator } from '../../data/operator-api.ts';
import { Badge } from '../../design/badge.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';
import { ListLink } from '../lists/links.tsx';

const LIVE_MS = 15_000;
const HOUR_MS = 3_600_000;
/** Failures of the last day: older ones have been seen. */
const RECENT_HOURS = 24;

interface Matter {
  text: TextKey;
  /** The list that shows it, if the console has one. */
  list?: { to: string; search: Record<string, string> };
  count: number;
}

/** What somebody should look at now, each with the list that shows it. */
export function Attention(): ReactNode {
  const t = useText();
  const { data, error, refetch } = useQuery({
    queryKey: ['attention'],
    queryFn: ({ signal }) => lookForMatters(signal),
    refetchInterval: LIVE_MS,
  });
  return (
    <section className="card stack" aria-labelledby="attention">
      <h2 id="attention">{t('console.home.attention')}</h2>
      {!data && (error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={2} />)}
      {data?.length === 0 && <p>{t('console.home.calm')}</p>}
      {data && data.length > 0 && (
        <ul className="console-attention">
          {data.map(({ text, list, count }) => (
            <li key={text}>
              <Badge tone="bad">!</Badge>{' '}
              {list ? <ListLink {...list}>{t(text, { count })}</ListLink> : t(text, { count })}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

async function lookForMatters(signal: AbortSignal): Promise<Matter[]> {
  const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();
  const one = { page_size: 1 };
  const searches = {
    failing: { failing: 'true', active: 'true' },
    failed: { status: 'failed', from: ago(RECENT_HOURS) },
    statements: { status: 'failed', from: ago(RECENT_HOURS) },
    imports: { state: 'interrupted' },
    errors: { status: '5xx', from: ago(1) },
  } as const;
  const [failing, failed, statements, imports, errors, holds] = await Promise.all([
    callOperator('GET /subscriptions', { query: { ...searches.failing, ...one }, signal }),
    callOperator('GET /notifications', { query: { ...searches.failed, ...one }, signal }),
    callOperator('GET /statements', { query: { ...searches.statements, ...one }, signal }),
    callOperator('GET /imports', { query: { ...searches.imports, ...one }, signal }),
    callOperator('GET /requests', { query: { ...searches.errors, ...one }, signal }),
    callOperator('GET /holds', { query: { overdue: true, ...one }, signal }),
  ]);
  // Where there are too many to be counted, one is enough to look.
  const countOf = ({ total, body }: { total: number | undefined; body: unknown[] }) => total ?? body.length;
  const matters: Matter[] = [
    { text: 'console.home.failing', list: { to: '/subscriptions', search: searches.failing }, count: countOf(failing) },
    { text: 'console.home.failed', list: { to: '/notifications', search: searches.failed }, count: countOf(failed) },
    {
      text: 'console.home.statements',
      list: { to: '/statements', search: searches.statements },
      count: countOf(statements),
    },
    { text: 'console.home.imports', list: { to: '/imports', search: searches.imports }, count: countOf(imports) },
    { text: 'console.home.errors', list: { to: '/requests', search: searches.errors }, count: countOf(errors) },
    { text: 'console.home.holds', count: countOf(holds) },
  ];
  return matters.filter(({ count }) => count > 0);
}
