import { useQueries } from '@tanstack/react-query';
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

/** What somebody should look at now, each with the list that shows it, and what to do. What cannot be asked does not hide the rest. */
export function Attention(): ReactNode {
  const t = useText();
  const may = useMay();
  const all = lookups(may);
  const asked = useQueries({
    queries: all.map(({ name, look }) => ({
      queryKey: ['attention', name],
      queryFn: ({ signal }: { signal: AbortSignal }) => look(signal),
      refetchInterval: LIVE_MS,
    })),
    combine: (results) => results.map((result, index) => ({ ...result, name: all[index]?.name ?? 'failing' })),
  });
  const isPending = asked.some(({ isPending }) => isPending);
  const found = asked.flatMap(({ data }) => (data && data.count > 0 ? [data] : []));
  const failed = asked.filter(({ data, error }) => data === undefined && error !== null);
  return (
    <section className="card stack" aria-labelledby="attention">
      <h2 id="attention">{t('console.home.attention')}</h2>
      {isPending && <Loading rows={2} />}
      {!isPending && found.length + failed.length === 0 && <p>{t('console.home.calm')}</p>}
      {!isPending && found.length + failed.length > 0 && (
        <ul className="console-attention">
          {found.map(({ text, advice, list, count }) => (
            <li key={text}>
              <Badge tone="bad">!</Badge>
              <div>
                <ListLink {...list}>{t(text, { count })}</ListLink>
                <div className="small quiet">{t(advice)}</div>
              </div>
            </li>
          ))}
          {failed.map(({ name, error, refetch }) => (
            <li key={name}>
              <Badge tone="warn">?</Badge>
              <div>
                <p>{t('console.home.unknown', { what: t(`console.home.part.${name}`) })}</p>
                <Failure error={error} onRetry={() => void refetch()} />
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

interface Lookup {
  name: MatterName;
  look: (signal: AbortSignal) => Promise<Matter>;
}

/** What is asked, each by itself: as far as the person may. */
function lookups(may: (scope: Scope) => boolean): Lookup[] {
  return [
    ...LISTS,
    { name: 'files', look: failedFiles },
    { name: 'rates', look: oldRates },
    ...(may('changes') ? [{ name: 'consumers', look: slowConsumers } as const] : []),
    ...(may('system') ? [{ name: 'tokens', look: endingTokens } as const] : []),
  ];
}

const ONE = { page_size: 1 };
const FAILING = { failing: 'true', active: 'true' } as const;
const INTERRUPTED = { state: 'interrupted' } as const;
const OVERDUE = { overdue: 'true' } as const;
const failedLately = () => ({ status: 'failed', from: ago(RECENT_HOURS) }) as const;
const errorsLately = () => ({ status: '5xx', from: ago(1) }) as const;
/** Where there are too many to be counted, one is enough to look. */
const countOf = ({ total, body }: { total: number | undefined; body: unknown[] }) => total ?? body.length;

/** The count of a list with a filter. @param ask for one record of the list, and the total */
function counted<Filter extends Record<string, string>>(
  name: MatterName,
  to: string,
  filter: () => Filter,
  ask: (query: Filter & typeof ONE, signal: AbortSignal) => Promise<Parameters<typeof countOf>[0]>,
): Lookup {
  return {
    name,
    look: async (signal) => {
      const search = filter();
      return matter(name, to, search, countOf(await ask({ ...search, ...ONE }, signal)));
    },
  };
}

const LISTS: readonly Lookup[] = [
  counted(
    'failing',
    '/subscriptions',
    () => FAILING,
    (query, signal) => callOperator('GET /subscriptions', { query, signal }),
  ),
  counted('failed', '/notifications', failedLately, (query, signal) =>
    callOperator('GET /notifications', { query, signal }),
  ),
  counted('statements', '/statements', failedLately, (query, signal) =>
    callOperator('GET /statements', { query, signal }),
  ),
  counted(
    'imports',
    '/imports',
    () => INTERRUPTED,
    (query, signal) => callOperator('GET /imports', { query, signal }),
  ),
  counted('errors', '/requests', errorsLately, (query, signal) => callOperator('GET /requests', { query, signal })),
  counted(
    'holds',
    '/holds',
    () => OVERDUE,
    (query, signal) => callOperator('GET /holds', { query: { ...query, overdue: true }, signal }),
  ),
];

/** Files that failed: the list has the newest first, and no filter by time. */
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
