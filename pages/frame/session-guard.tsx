import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { SessionEnd } from '../data/call-error.ts';
import { institution } from '../data/document.ts';
import { queryClient } from '../data/queries.ts';
import { useSessionLife } from '../data/session-life.ts';
import { Button } from '../design/button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Status } from '../design/notice.tsx';
import { Failure } from '../design/states.tsx';
import { useText } from '../texts/text.tsx';
import { Mark } from './frame.tsx';

/** How long the page shows that the connection is back. */
const BACK_MS = 4_000;

/**
 * Draws an application while its session lasts. It warns a minute before the end, removes everything at the end, and reports a lost
 * connection.
 * @param prefix `/app` or `/console`
 */
export function SessionGuard({ prefix, children }: { prefix: string; children: ReactNode }): ReactNode {
  const t = useText();
  const { state, isLost, secondsLeft, idleMinutes, stay, retry, error } = useSessionLife(prefix);
  useFreshPage();
  if (state === 'unknown') return error ? <Failure error={error} onRetry={retry} /> : null;
  if (state !== 'live' && state !== 'ending') return <SignedOut why={state} minutes={idleMinutes} />;
  return (
    <>
      {children}
      <Connection isLost={isLost} />
      <Dialog
        title={t('frame.idle')}
        isOpen={state === 'ending'}
        onBack={stay}
        back={null}
        action={
          <Button kind="primary" onPress={stay} autoFocus>
            {t('frame.idle.stay')}
          </Button>
        }
      >
        <p>{t('frame.idle.text', { seconds: secondsLeft })}</p>
      </Dialog>
    </>
  );
}

function SignedOut({ why, minutes }: { why: SessionEnd; minutes: number }): ReactNode {
  const t = useText();
  const head = useRef<HTMLHeadingElement>(null);
  const title = why === 'idle' ? t('frame.over.idle', { minutes }) : t('frame.over');
  useEffect(() => {
    document.title = `${t('frame.over')} - ${institution.name}`;
    head.current?.focus();
  }, [t]);
  return (
    <main className="signed-out">
      <div className="card stack">
        <div className="frame-mark">
          <Mark />
        </div>
        <div role="status">
          <h1 tabIndex={-1} ref={head}>
            {title}
          </h1>
        </div>
        {why !== 'idle' && <p>{t(`frame.over.${why}`)}</p>}
        <p>
          <a className="button primary" href={location.href}>
            {t(why === 'replaced' ? 'frame.over.goOn' : 'frame.over.signIn')}
          </a>
        </p>
      </div>
    </main>
  );
}

/** Reports a lost connection. When it is back, everything on the page is fetched again. */
function Connection({ isLost }: { isLost: boolean }): ReactNode {
  const t = useText();
  const [isBack, setBack] = useState(false);
  const wasLost = useRef(false);
  useEffect(() => {
    if (isLost) {
      wasLost.current = true;
      setBack(false);
      return;
    }
    if (!wasLost.current) return;
    wasLost.current = false;
    void queryClient.invalidateQueries();
    setBack(true);
    const timer = setTimeout(() => setBack(false), BACK_MS);
    return () => clearTimeout(timer);
  }, [isLost]);
  return (
    <div className="connection">
      <Status tone={isLost ? 'warn' : 'good'}>{isLost ? t('frame.lost') : isBack ? t('frame.back') : undefined}</Status>
    </div>
  );
}

/** A page that the browser restores from its cache may belong to a person who has signed out since. */
function useFreshPage(): void {
  useEffect(() => {
    const check = (event: PageTransitionEvent) => {
      if (event.persisted) location.reload();
    };
    addEventListener('pageshow', check);
    return () => removeEventListener('pageshow', check);
  }, []);
}
