import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { callOperator } from '../../data/operator-api.ts';
import { Badge } from '../../design/badge.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';
import { ListLink } from '../lists/links.tsx';
import { type Scope, useMay } from '../staff.ts';

const LIVE_MS = 15_000;
const HOUR_MS = 3_600_000;
/** Only failures of the last day count: staff have seen older ones. */
const RECENT_HOURS = 24;
/** The most failed files looked at, newest first. Even if there are more, staff learn that files failed. */
const MAX_LOOKED_AT = 100;
const SECONDS_OF_HOUR = 3_600;
/** A consumer of the change feed that is further behind than this has probably stopped. */
const MAX_LAG_SECONDS = 900;
/** Hours before a token ends in which it is reported: a week leaves time to make a new one. */
const ENDING_HOURS = 168;

interface Matter {
  text: TextKey;
  /** What staff should do about it. */
  advice: TextKey;
  /** The list that shows the records. */
  list: { to: string; search: Record<string, string> };
  count: number;
}

/** What needs attention now, each with the list that shows it, and what to do. */
export function Attention(): ReactNode {
  const t = useText();
  const may = useMay();
  const { data, error, refetch } = useQuery({
    queryKey: ['attention'],
    queryFn: ({ signal }) => lookForMatters(signal, may),
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

type MatterName =
  | 'failing'
  | 'failed'
  | 'files'
  | 'statements'
  | 'imports'
  | 'errors'
  | 'holds'
  | 'rates'
  | 'consumers'
  | 'tokens';

function matter(name: MatterName, to: string, search: Record<string, string>, count: number): Matter {
  return { text: `console.home.${name}`, advice: `console.home.${name}.do`, list: { to, search }, count };
}

const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();

async function lookForMatters(signal: AbortSignal, may: (scope: Scope) => boolean): Promise<Matter[]> {
  const matters = await Promise.all([
    ...lists(signal),
    failedFiles(signal),
    oldRates(signal),
    ...(may('changes') ? [slowConsumers(signal)] : []),
    ...(may('system') ? [endingTokens(signal)] : []),
  ]);
  return matters.filter(({ count }) => count > 0);
}

/** The matters that filtered lists count. */
function lists(signal: AbortSignal): Promise<Matter>[] {
  const one = { page_size: 1 };
  const failing = { failing: 'true', active: 'true' } as const;
  const failed = { status: 'failed', from: ago(RECENT_HOURS) } as const;
  const interrupted = { state: 'interrupted' } as const;
  const errors = { status: '5xx', from: ago(1) } as const;
  // Without a total, there are too many to count: the rows of the page are enough to draw attention.
  const countOf = ({ total, body }: { total: number | undefined; body: unknown[] }) => total ?? body.length;
  return [
    callOperator('GET /subscriptions', { query: { ...failing, ...one }, signal }).then((found) =>
      matter('failing', '/subscriptions', failing, countOf(found)),
    ),
    callOperator('GET /notifications', { query: { ...failed, ...one }, signal }).then((found) =>
      matter('failed', '/notifications', failed, countOf(found)),
    ),
    callOperator('GET /statements', { query: { ...failed, ...one }, signal }).then((found) =>
      matter('statements', '/statements', failed, countOf(found)),
    ),
    callOperator('GET /imports', { query: { ...interrupted, ...one }, signal }).then((found) =>
      matter('imports', '/imports', interrupted, countOf(found)),
    ),
    callOperator('GET /requests', { query: { ...errors, ...one }, signal }).then((found) =>
      matter('errors', '/requests', errors, countOf(found)),
    ),
    callOperator('GET /holds', { query: { overdue: true, ...one }, signal }).then((found) =>
      matter('holds', '/holds', { overdue: 'true' }, countOf(found)),
    ),
  ];
}

/** Failed files. The list has the newest first, and no filter by time. */
async function failedFiles(signal: AbortSignal): Promise<Matter> {
  const failed = { mass_payment_status: 'Failed' } as const;
  const { body } = await callOperator('GET /mass-payments', { query: { ...failed, page_size: MAX_LOOKED_AT }, signal });
  const recent = body.filter(({ created_at: at }) => at >= ago(RECENT_HOURS));
  return matter('files', '/files', failed, recent.length);
}

/** Rate tables that are too old for quotes. */
async function oldRates(signal: AbortSignal): Promise<Matter> {
  const [pricing, rates] = await Promise.all([
    callOperator('GET /pricing', { signal }),
    callOperator('GET /exchange-rates', { signal }),
  ]);
  const seconds = pricing.body.rate_max_age_seconds;
  const since = ago(seconds / SECONDS_OF_HOUR);
  const old = seconds === 0 ? [] : rates.body.filter(({ as_of: at }) => at < since);
  return matter('rates', '/system', {}, old.length);
}

async function slowConsumers(signal: AbortSignal): Promise<Matter> {
  const { body } = await callOperator('GET /change-consumers', { signal });
  return matter('consumers', '/changes', {}, body.filter(({ lag_seconds: lag }) => lag > MAX_LAG_SECONDS).length);
}

async function endingTokens(signal: AbortSignal): Promise<Matter> {
  const { body } = await callOperator('GET /operator-tokens', { signal });
  const ending = body.filter(({ expires_at: at }) => at !== null && at < ago(-ENDING_HOURS));
  return matter('tokens', '/tokens', {}, ending.length);
}
