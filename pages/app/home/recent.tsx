import { type ReactNode, useRef, useState } from 'react';
import type { RecentActivity } from '../../data/payments.ts';
import { dateFormat } from '../../design/formats.ts';
import { useLocale, useText } from '../../texts/text.tsx';
import { ActivityList } from '../payments/activity.tsx';

/** Recent events, by day. While the person points at the list, it does not change. */
export function Recent({ entries }: { entries: RecentActivity[] }): ReactNode {
  const t = useText();
  const locale = useLocale();
  const [isHeld, setHeld] = useState(false);
  const shown = useRef(entries);
  if (!isHeld) shown.current = entries;
  const day = dateFormat(locale, { weekday: 'long', day: 'numeric', month: 'long' });
  return (
    <section
      className="card stack"
      aria-labelledby="recent-activity"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
    >
      <h2 id="recent-activity">{t('home.activity')}</h2>
      {entries.length === 0 && <p className="quiet">{t('home.activity.none')}</p>}
      {[...Map.groupBy(shown.current, ({ at }) => day.format(new Date(at)))].map(([name, ofDay]) => (
        <div key={name} className="stack tight">
          <h3 className="recent-day">{name}</h3>
          <ActivityList entries={ofDay} isOfDay />
        </div>
      ))}
    </section>
  );
}
