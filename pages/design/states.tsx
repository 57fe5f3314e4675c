import type { ReactNode } from 'react';
import { CallError } from '../data/call-error.ts';
import { useText } from '../texts/text.tsx';
import { Button } from './button.tsx';
import { Alert } from './notice.tsx';
import { useRefusal } from './refusal.ts';
import './states.css';

/** Says that there is nothing, and what the person can do about it. */
export function Empty({ title, children }: { title: string; children?: ReactNode }): ReactNode {
  return (
    <div className="state">
      <p className="state-title">{title}</p>
      {children && <div className="quiet">{children}</div>}
    </div>
  );
}

/** Reserves the space while data is fetched, so that nothing jumps. */
export function Loading({ rows = 4 }: { rows?: number }): ReactNode {
  const t = useText();
  return (
    <div className="loading" role="status">
      <span className="visually-hidden">{t('design.loading')}</span>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the bars have nothing else
        <span className="loading-bar" key={index} />
      ))}
    </div>
  );
}

/** Shows a failed call, refused or unanswered: its message, and a way to try again. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }): ReactNode {
  const t = useText();
  const say = useRefusal();
  if (error instanceof CallError && error.status === 403)
    return (
      <div role="alert">
        <Empty title={t('design.forbidden')}>{t('design.forbidden.text')}</Empty>
      </div>
    );
  const known = error instanceof CallError ? error : undefined;
  return (
    <Alert>
      <p>
        <strong>{t(known?.status === 404 ? 'design.missing' : 'design.failed')}</strong>
      </p>
      <p>{(known && say(known)) || t('design.failed.text')}</p>
      {known?.requestId && <p className="small">{t('design.request', { id: known.requestId })}</p>}
      {onRetry && (
        <Button kind="quiet" onPress={onRetry}>
          {t('design.retry')}
        </Button>
      )}
    </Alert>
  );
}
