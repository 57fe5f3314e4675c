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
  /** What somebody should do about it. */
  advice: TextKey;
  /** The list that shows it. */
  list: { to: string; search: Record<string, string> };
  count: number;
}

/** What somebody should look at now, each with the list that shows it, and what to do. */
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
          {data.map(({ text, advice, list, count }) => (
            <li key={text}>
              <Badge tone="bad">!</Badge>
              <div>
                <ListLink {...list}>{t(text, { count })}</ListLink>
                <div className="small quiet">{t(advice)}</div>
              </div>
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
    matter('failing', '/subscriptions', searches.failing, countOf(failing)),
    matter('failed', '/notifications', searches.failed, countOf(failed)),
    matter('statements', '/statements', searches.statements, countOf(statements)),
    matter('imports', '/imports', searches.imports, countOf(imports)),
    matter('errors', '/requests', searches.errors, countOf(errors)),
    matter('holds', '/holds', { overdue: 'true' }, countOf(holds)),
  ];
  return matters.filter(({ count }) => count > 0);
}

type MatterName = 'failing' | 'failed' | 'statements' | 'imports' | 'errors' | 'holds';

function matter(name: MatterName, to: string, search: Record<string, string>, count: number): Matter {
  return { text: `console.home.${name}`, advice: `console.home.${name}.do`, list: { to, search }, count };
}
