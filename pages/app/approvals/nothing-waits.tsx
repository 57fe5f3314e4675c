import type { ReactNode } from 'react';
import type { RecentActivity } from '../../data/payments.ts';
import { Empty } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { ActivityList, DECIDED } from '../payments/activity.tsx';

/** Nothing is left to do; shows who has done it. */
export function NothingWaits({ activity }: { activity: RecentActivity[] }): ReactNode {
  const t = useText();
  const decided = activity.filter(({ what }) => DECIDED.has(what));
  return (
    <>
      <Empty title={t('approvals.nothing')}>{t('approvals.nothing.text')}</Empty>
      {decided.length > 0 && (
        <section className="card stack" aria-labelledby="lately-decided">
          <h2 id="lately-decided">{t('approvals.lately')}</h2>
          <ActivityList entries={decided} />
        </section>
      )}
    </>
  );
}
