import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { call, endCalls, showPerson } from './call.ts';
import { CallError, type SessionEnd } from './call-error.ts';
import { queryClient, SESSION } from './queries.ts';
import { PATIENCE_MS } from './tabs.ts';

/** What both applications' sessions say of their time; the rest is each application's own. */
export interface SessionTimes {
  /** Who it is. */
  person: string;
  now: string;
  idle_seconds: number;
  idle_at: string;
  expires_at: string;
}

/** How a session stands. */
export type SessionState = 'unknown' | 'live' | 'ending' | SessionEnd;

/** How often the page asks how long the session lasts: an end or a lost connection is seen so soon. Asking is no activity. */
const POLL_MS = 3_000;
/** A poll without an answer means that the connection is lost. */
const POLL_TIMEOUT_MS = 4_000;
const TICK_MS = 500;
/** A dialog asks so long before the end, or at half of a shorter idle time. */
const WARNING_MS = 60_000;
/** The service hears of activity at most so often. */
const ACTIVITY_INTERVAL_MS = 5_000;
const ACTIVITY = ['keydown', 'pointerdown', 'pointermove', 'wheel', 'popstate'] as const;

/** The browser's tabs of an application, which tell each other what the service has answered. */
class SessionTabs {
  readonly #channel: BroadcastChannel;
  /** Another tab was the last that asked. */
  heard = false;

  constructor(prefix: string) {
    this.#channel = new BroadcastChannel(`lombard-session-${prefix}`);
  }

  tell(session: SessionTimes): void {
    this.heard = false;
    this.#channel.postMessage(session);
  }

  /** Undefined: does not listen any more. */
  listen(learn: ((session: SessionTimes) => void) | undefined): void {
    this.#channel.onmessage = learn
      ? ({ data }: MessageEvent<SessionTimes>) => {
          this.heard = true;
          learn(data);
        }
      : null;
  }
}

const tabs = new Map<string, SessionTabs>();

function tabsOf(prefix: string): SessionTabs {
  const known = tabs.get(prefix) ?? new SessionTabs(prefix);
  tabs.set(prefix, known);
  return known;
}

/** The session of an application. @param prefix `/app` or `/console`, which has `/session` */
export function sessionQuery<Session extends SessionTimes>(prefix: string) {
  return {
    queryKey: [SESSION, prefix],
    queryFn: async () => {
      const { body } = await call<Session>('GET', `${prefix}/session`, {
        signal: AbortSignal.timeout(POLL_TIMEOUT_MS),
        isForAnybody: true,
      });
      if (!showPerson(body.person)) throw replaced();
      tabsOf(prefix).tell(body);
      return timed(body);
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
    retry: false,
  };
}

/** The answer to a page of somebody who is signed in no more, because somebody else is. */
function replaced(): CallError {
  return new CallError(401, {}, new Headers({ 'x-lombard-session-end': 'replaced' }));
}

/** A session with its end by the page's own clock. */
function timed<Session extends SessionTimes>(session: Session): Session & { endsAt: number } {
  const { now, idle_at, expires_at } = session;
  const leftMs = Math.min(Date.parse(idle_at), Date.parse(expires_at)) - Date.parse(now);
  return { ...session, endsAt: performance.now() + leftMs };
}

interface SessionLife {
  state: SessionState;
  /** No answer has come of late. */
  isLost: boolean;
  secondsLeft: number;
  /** Of idleness, after which it ends. */
  idleMinutes: number;
  /** The person wants to go on. */
  stay: () => void;
  retry: () => void;
  error: unknown;
}

/** Follows a session: asks for its end, tells the service of activity, and drops all data when it is over. */
export function useSessionLife(prefix: string): SessionLife {
  const [over, setOver] = useState<SessionState>();
  const { data, error, refetch } = useQuery({
    ...sessionQuery(prefix),
    enabled: over === undefined,
    refetchInterval: () => (tabsOf(prefix).heard ? POLL_MS + PATIENCE_MS : POLL_MS),
    refetchIntervalInBackground: true,
  });
  useEffect(() => {
    if (over !== undefined) return;
    const { queryKey } = sessionQuery(prefix);
    tabsOf(prefix).listen((session) => {
      // Somebody else signed in there: this tab asks by itself, and is told that its person's session was replaced.
      if (showPerson(session.person)) queryClient.setQueryData(queryKey, timed(session));
      else void queryClient.refetchQueries({ queryKey });
    });
    return () => tabsOf(prefix).listen(undefined);
  }, [prefix, over]);
  const now = useNow();
  const left = data ? data.endsAt - now : undefined;
  const state = over ?? stateOf(data, left, error);
  const isOver = state !== 'unknown' && state !== 'live' && state !== 'ending';
  useEffect(() => {
    if (!isOver) return;
    setOver(state);
    endCalls();
    queryClient.clear();
  }, [isOver, state]);
  const stay = async () => {
    await call('POST', `${prefix}/session/activity`).catch(() => undefined);
    await refetch();
  };
  // Once the dialog is open only the dialog counts: a nudge of the mouse must not close what one is about to press.
  useActivity(state === 'live', () => void call('POST', `${prefix}/session/activity`).catch(() => undefined));
  const known = useRef({ idle_seconds: 0, ...data });
  if (data) known.current = data;
  return {
    state,
    isLost: !isOver && isLost(error),
    secondsLeft: Math.max(0, Math.ceil((left ?? 0) / 1_000)),
    idleMinutes: Math.round(known.current.idle_seconds / 60),
    stay: () => void stay(),
    retry: () => void refetch(),
    error,
  };
}

function stateOf(times: SessionTimes | undefined, left: number | undefined, error: unknown): SessionState {
  if (error instanceof CallError && error.status === 401) return error.sessionEnd ?? 'ended';
  if (times === undefined || left === undefined) return 'unknown';
  // Staying signed in does not help against the longest time that a session lasts.
  const isIdle = times.idle_at <= times.expires_at;
  if (left <= 0) return isIdle ? 'idle' : 'expired';
  return isIdle && left <= Math.min(WARNING_MS, times.idle_seconds * 500) ? 'ending' : 'live';
}

/** A proxy in front of a service that is gone answers 502 to 504. */
function isLost(error: unknown): boolean {
  return error !== null && !(error instanceof CallError && error.status > 0 && error.status < 502);
}

/** The page's clock, a few times a second. */
function useNow(): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** Tells of keys, the pointer and the browser's own back and forward: at once, and then at most every few seconds, the last one included. */
function useActivity(isOn: boolean, tell: () => void): void {
  const last = useRef(Number.NEGATIVE_INFINITY);
  const latest = useRef(tell);
  latest.current = tell;
  useEffect(() => {
    if (!isOn) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const send = () => {
      timer = undefined;
      last.current = performance.now();
      latest.current();
    };
    const act = () => {
      if (timer === undefined)
        timer = setTimeout(send, Math.max(0, last.current + ACTIVITY_INTERVAL_MS - performance.now()));
    };
    for (const name of ACTIVITY) addEventListener(name, act, { passive: true, capture: true });
    return () => {
      clearTimeout(timer);
      for (const name of ACTIVITY) removeEventListener(name, act, { capture: true });
    };
  }, [isOn]);
}
