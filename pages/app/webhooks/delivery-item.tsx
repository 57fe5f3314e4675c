import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { CodeBlock } from '../../design/code-block.tsx';
import { Facts } from '../../design/facts.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';
import { type Attempt, type Delivery, type DeliveryStatus, deliveryQuery } from './deliveries.ts';
import { resend, type Subscription } from './subscriptions.ts';

const TONES: Record<DeliveryStatus, Tone> = { pending: 'info', delivered: 'good', failed: 'bad', cancelled: 'neutral' };

interface DeliveryItemProps {
  delivery: Delivery;
  subscription: Subscription;
  mayManage: boolean;
  onDone: (text: string) => void;
}

/** A notification: its subject, its status, and on request every attempt. */
export function DeliveryItem({ delivery, subscription, mayManage, onDone }: DeliveryItemProps): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const details = useId();
  const [isOpen, setOpen] = useState(false);
  const { id, type, status, createdAt, attempts } = delivery;
  const again = useAct(() => resend(clientId, id), [['deliveries', clientId, subscription.id]]);
  const [last] = attempts.nodes;
  return (
    <li className="delivery">
      <div className="row apart">
        <button
          type="button"
          className="delivery-name"
          aria-expanded={isOpen}
          aria-controls={details}
          onClick={() => setOpen(!isOpen)}
        >
          <strong>{type}</strong> <Moment at={createdAt} />
        </button>
        <span className="row">
          {last && <span className="small quiet">{last.statusCode ?? last.reason}</span>}
          <span className="small quiet">{t('webhooks.attempts', { count: attempts.totalCount })}</span>
          <Badge tone={TONES[status]}>{t(`webhooks.status.${status}`)}</Badge>
          {mayManage && (
            <Button
              isPending={again.isPending}
              onPress={() => again.mutate(undefined, { onSuccess: () => onDone(t('webhooks.resent')) })}
            >
              {t('webhooks.resend')}
            </Button>
          )}
        </span>
      </div>
      {again.error && <Failure error={again.error} />}
      <div id={details}>{isOpen && <Details delivery={delivery} subscription={subscription} />}</div>
    </li>
  );
}

function Details({ delivery, subscription }: Pick<DeliveryItemProps, 'delivery' | 'subscription'>): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { id, attempts } = delivery;
  const { data, error, refetch } = useQuery(deliveryQuery(clientId, subscription.id, id, attempts.totalCount));
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />;
  return (
    <div className="stack delivery-details">
      <Facts facts={[{ name: t('webhooks.notification'), value: <code>{id}</code> }]} />
      {data.attempts.length === 0 && <p className="quiet">{t('webhooks.attempts.none')}</p>}
      {data.attempts.map((attempt) => (
        <AttemptDetails key={attempt.deliveryId} attempt={attempt} body={data.body} url={subscription.url} />
      ))}
      {data.attempts.length === 0 && data.body !== null && <CodeBlock name={t('webhooks.body')} text={data.body} />}
    </div>
  );
}

/** A request of the service, and the receiver's answer. Whatever the answer contains, it is only text here. */
function AttemptDetails({ attempt, body, url }: { attempt: Attempt; body: string | null; url: string }): ReactNode {
  const t = useText();
  const {
    attemptNumber: number,
    deliveryId,
    startedAt,
    durationMs,
    statusCode,
    reason,
    headers,
    body: answer,
  } = attempt;
  return (
    <section className="attempt" aria-label={t('webhooks.attempt', { number })}>
      <h4>{t('webhooks.attempt', { number })}</h4>
      <Facts
        facts={[
          { name: t('webhooks.started'), value: <Moment at={startedAt} /> },
          { name: t('webhooks.took'), value: t('webhooks.ms', { ms: durationMs }) },
          { name: t('webhooks.result'), value: reason === null ? statusCode : `${statusCode ?? ''} ${reason}`.trim() },
          { name: t('webhooks.delivery'), value: <code>{deliveryId}</code> },
        ]}
      />
      <div className="exchange">
        <div className="stack tight">
          <h5>{t('webhooks.request')}</h5>
          <p className="small">
            POST <ForeignText>{url}</ForeignText>
          </p>
          {body !== null && <CodeBlock name={`${t('webhooks.request')} ${number}`} text={body} />}
        </div>
        <div className="stack tight">
          <h5>{t('webhooks.answer')}</h5>
          {headers === null ? (
            <p className="small">{t('webhooks.answer.none')}</p>
          ) : (
            <CodeBlock name={`${t('webhooks.answer.headers')} ${number}`} text={headerLines(headers)} />
          )}
          {answer && <CodeBlock name={`${t('webhooks.answer')} ${number}`} text={answer} />}
        </div>
      </div>
    </section>
  );
}

function headerLines(headers: Record<string, string | string[]>): string {
  return Object.entries(headers)
    .flatMap(([name, value]) => [value].flat().map((each) => `${name}: ${each}`))
    .join('\n');
}
