import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ReceiverHealth } from '../../../src/webhooks/receiver-health.ts';
import { type Bar, BarChart } from '../../design/bar-chart.tsx';
import { Facts } from '../../design/facts.tsx';
import { dateFormat } from '../../design/formats.ts';
import { Moment } from '../../design/moment.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { useLocale, useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { healthQuery } from './deliveries.ts';

const HOUR_MS = 3_600_000;

/** How a receiver answered in the last 24 hours. */
export function HealthChart({ subscriptionId }: { subscriptionId: string }): ReactNode {
  const t = useText();
  const locale = useLocale();
  const { client_id: clientId } = useClient();
  const { data, error, refetch } = useQuery(healthQuery(clientId, subscriptionId));
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={2} />;
  const bars = barsOf(data, locale);
  const [good, bad] = [sum(bars.map((bar) => bar.good)), sum(bars.map((bar) => bar.bad))];
  const slowest = Math.max(0, ...data.hours.map((hour) => hour.slowest_ms));
  return (
    <section className="stack tight" aria-label={t('webhooks.health')}>
      <h3>{t('webhooks.health')}</h3>
      <BarChart
        name={t('webhooks.health.name', { good, bad })}
        bars={bars}
        good={t('webhooks.health.good')}
        bad={t('webhooks.health.bad')}
        unit={t('webhooks.health.hour')}
        none={t('webhooks.health.none')}
      />
      {data.partial && <p className="quiet small">{t('webhooks.health.partial')}</p>}
      <Facts
        facts={[
          { name: t('webhooks.health.attempts'), value: t('webhooks.health.counts', { good, bad }) },
          { name: t('webhooks.health.slowest'), value: good + bad === 0 ? null : t('webhooks.ms', { ms: slowest }) },
          { name: t('webhooks.health.succeeded'), value: data.succeeded_at && <Moment at={data.succeeded_at} /> },
          { name: t('webhooks.health.failing'), value: data.failing_since && <Moment at={data.failing_since} /> },
        ]}
      />
    </section>
  );
}

/** A bar for every hour, including hours in which nothing was sent. */
function barsOf({ since, until, hours }: ReceiverHealth, locale: string): Bar[] {
  const byHour = new Map(hours.map((hour) => [Date.parse(hour.at), hour]));
  const format = dateFormat(locale, { weekday: 'short', hour: '2-digit', minute: '2-digit' });
  const bars: Bar[] = [];
  for (let at = Date.parse(since); at <= Date.parse(until); at += HOUR_MS) {
    const hour = byHour.get(at);
    bars.push({ label: format.format(at), good: hour?.succeeded ?? 0, bad: hour?.failed ?? 0 });
  }
  return bars;
}

function sum(counts: number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
