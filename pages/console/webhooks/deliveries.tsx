import type { ReactNode } from 'react';
import type { Answered } from '../../data/operator-api.ts';
import { Moment } from '../../design/moment.tsx';
import { useText } from '../../texts/text.tsx';
import { Code, Json, More } from '../lists/code.tsx';
import { ListLink, State } from '../lists/links.tsx';

type Notification = Answered<'GET /notifications'>[number];

/** What was sent, and the receiver's answer to each attempt. */
export function Deliveries({ notification }: { notification: Notification }): ReactNode {
  const t = useText();
  const { subscription_id: subscription, attempts, body } = notification;
  return (
    <div className="stack tight">
      <ListLink to="/notifications" search={{ subscription_id: subscription }}>
        {t('console.col.subscription')} {subscription}
      </ListLink>
      <More title={t('console.col.body')}>
        <Code name={t('console.col.body')}>{body}</Code>
      </More>
      {attempts.map((attempt) => (
        <div key={attempt.delivery_id} className="stack tight">
          <span className="row">
            {t('console.event.attempt', { number: attempt.attempt_number })}
            <State>{attempt.status_code ?? attempt.reason}</State>
            <Moment at={attempt.started_at} />
            <span className="quiet small">{Math.round(attempt.duration_ms)} ms</span>
          </span>
          {(attempt.body || attempt.headers) && (
            <More title={t('console.col.answer')}>
              {attempt.headers && <Json name={t('console.col.detail')}>{attempt.headers}</Json>}
              {attempt.body && <Code name={t('console.col.answer')}>{attempt.body}</Code>}
            </More>
          )}
        </div>
      ))}
    </div>
  );
}
