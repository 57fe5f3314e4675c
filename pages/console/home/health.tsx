import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useId } from 'react';
import { type Answered, callOperator } from '../../data/operator-api.ts';
import { BarChart } from '../../design/bar-chart.tsx';
import { dateFormat, numberFormat } from '../../design/formats.ts';
import { LineChart } from '../../design/line-chart.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import type { TextKey } from '../../texts/keys.ts';
import { useLocale, useText } from '../../texts/text.tsx';

type HealthHistory = Answered<'GET /health-history'>;

const HOURS = 6;
const LIVE_MS = 15_000;
type Measure = keyof HealthHistory['measures'];

/** Counts over time: successes and failures. */
const COUNTS: { title: TextKey; good: [Measure, TextKey]; bad: [Measure, TextKey]; none: TextKey }[] = [
  {
    title: 'console.chart.signIns',
    good: ['sign_ins', 'console.chart.signedIn'],
    bad: ['sign_in_failures', 'console.chart.refused'],
    none: 'console.chart.signIns.none',
  },
  {
    title: 'console.chart.requests',
    good: ['requests', 'console.chart.answered'],
    bad: ['refused', 'console.chart.refused4'],
    none: 'console.chart.requests.none',
  },
  {
    title: 'console.chart.deliveries',
    good: ['delivered', 'console.chart.delivered'],
    bad: ['delivery_failures', 'console.chart.failed'],
    none: 'console.chart.deliveries.none',
  },
];
const LINES: { title: TextKey; measure: Measure; none: TextKey }[] = [
  { title: 'console.chart.errors', measure: 'errors', none: 'console.chart.errors.none' },
  { title: 'console.chart.outboxLag', measure: 'outbox_lag_seconds', none: 'console.chart.outboxLag.none' },
  { title: 'console.chart.auditLag', measure: 'audit_lag_seconds', none: 'console.chart.auditLag.none' },
];

/** How the service did in the last hours, over all processes. */
export function Health(): ReactNode {
  const t = useText();
  const { data, error, refetch } = useQuery({
    queryKey: ['GET /health-history'],
    queryFn: async ({ signal }) =>
      (await callOperator('GET /health-history', { query: { hours: HOURS }, signal })).body,
    refetchInterval: LIVE_MS,
  });
  return (
    <section className="stack" aria-labelledby="health">
      <h2 id="health">
        {t('console.home.health')} <span className="quiet small">{t('console.home.hours', { hours: HOURS })}</span>
      </h2>
      {data && <Charts history={data} />}
      {!data && (error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />)}
    </section>
  );
}

function Charts({ history: { from, step_seconds: seconds, measures } }: { history: HealthHistory }): ReactNode {
  const t = useText();
  const clock = dateFormat(useLocale(), { hour: '2-digit', minute: '2-digit' });
  const labels = measures.requests.map((_, step) => clock.format(Date.parse(from) + step * seconds * 1_000));
  const at = (measure: Measure, step: number) => measures[measure][step] ?? 0;
  const figure = numberFormat(useLocale(), { maximumFractionDigits: 1 });
  const most = (measure: Measure) => t('console.chart.most', { value: figure.format(Math.max(...measures[measure])) });
  const latest = (measure: Measure) => measures[measure].reduce((sum, value) => sum + value, 0);
  return (
    <div className="console-charts">
      {COUNTS.map(({ title, good, bad, none }) => (
        <Chart key={title} title={title}>
          <BarChart
            name={`${t(title)}: ${latest(good[0])} ${t(good[1])}, ${latest(bad[0])} ${t(bad[1])}`}
            bars={labels.map((label, step) => ({ label, good: at(good[0], step), bad: at(bad[0], step) }))}
            good={t(good[1])}
            bad={t(bad[1])}
            unit={t('console.col.at')}
            none={t(none, { hours: HOURS })}
          />
        </Chart>
      ))}
      {LINES.map(({ title, measure, none }) => (
        <Chart
          key={title}
          title={title}
          {...(measures[measure].some((value) => value > 0) ? { figure: most(measure) } : {})}
        >
          <LineChart
            name={`${t(title)}: ${most(measure)}`}
            points={labels.map((label, step) => ({
              label,
              height: at(measure, step),
              value: figure.format(at(measure, step)),
            }))}
            columns={[t('console.col.at'), t(title)]}
            none={t(none, { hours: HOURS })}
          />
        </Chart>
      ))}
    </div>
  );
}

interface ChartProps {
  title: TextKey;
  /** The total of the chart, if its own key does not show it. */
  figure?: string;
  children: ReactNode;
}

function Chart({ title, figure, children }: ChartProps): ReactNode {
  const t = useText();
  const id = useId();
  return (
    <section className="card stack tight" aria-labelledby={id}>
      <div className="row apart">
        <h3 id={id}>{t(title)}</h3>
        {figure && <span className="small quiet">{figure}</span>}
      </div>
      {children}
    </section>
  );
}
