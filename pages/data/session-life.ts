import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { call, endCalls, showPerson } from './call.ts';
import { CallError, type SessionEnd } from './call-error.ts';
import { queryClient, SESSION } from './queries.ts';
import { PATIENCE_MS } from './tabs.ts';

/** The times that both applications' sessions share; the rest belongs to each application. */
export interface SessionTimes {
  /** Identifies the person. */
  person: string;
  now: string;
  idle_seconds: number;
  idle_at: string;
  expires_at: string;
}

/** The state of a session. */
export type SessionState = 'unknown' | 'live' | 'ending' | SessionEnd;

/** How often the page polls the session. An end or a lost connection is noticed within this time. Polling does not count as activity. */
const POLL_MS = 3_000;
/** Without an answer to a poll in this time, the connection counts as lost. */
const POLL_TIMEOUT_MS = 4_000;
const TICK_MS = 500;
/** How long before the end a dialog asks; for a shorter idle time, at half of it. */
const WARNING_MS = 60_000;
/** The least time between two reports of activity to the service. */
const ACTIVITY_INTERVAL_MS = 5_000;
const ACTIVITY = ['keydown', 'pointerdown', 'pointermove', 'wheel', 'popstate'] as const;

/** The browser's tabs of one application, which share the service's answers. */
class SessionTabs {
  readonly #channel: BroadcastChannel;
  /** True if another tab was the last to poll. */
  heard = false;

  constructor(prefix: string) {
    this.#channel = new BroadcastChannel(`lombard-session-${prefix}`);
  }

  tell(session: SessionTimes): void {
    this.heard = false;
    this.#channel.postMessage(session);
  }

  /** Starts listening; undefined stops it. */
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

/** The answer for a page whose person was replaced because somebody else has signed in. */
function replaced(): CallError {
  return new CallError(401, {}, new Headers({ 'x-lombard-session-end': 'replaced' }));
}

/** A session with its end on the page's own clock. */
function timed<Session extends SessionTimes>(session: Session): Session & { endsAt: number } {
  const { now, idle_at, expires_at } = session;
  const leftMs = Math.min(Date.parse(idle_at), Date.parse(expires_at)) - Date.parse(now);
  return { ...session, endsAt: performance.now() + leftMs };
}

interface SessionLife {
  state: SessionState;
  /** True if no answer has come lately. */
  isLost: boolean;
  secondsLeft: number;
  /** Minutes without activity after which the session ends. */
  idleMinutes: number;
  /** Keeps the session alive at the person's request. */
  stay: () => void;
  retry: () => void;
  error: unknown;
}

/** Follows a session: polls its end, reports activity to the service, and drops all data when it is over. */
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
      // Somebody else has signed in there. This tab asks by itself, and learns that its person's session was replaced.
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
  // Once the dialog is open, only the dialog counts: a nudge of the mouse must not close what the person is about to press.
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
  // Staying signed in cannot extend the maximum lifetime of a session.
  const isIdle = times.idle_at <= times.expires_at;
  if (left <= 0) return isIdle ? 'idle' : 'expired';
  return isIdle && left <= Math.min(WARNING_MS, times.idle_seconds * 500) ? 'ending' : 'live';
}

/** If the service is gone, a proxy in front of it answers 502 to 504. */
function isLost(error: unknown): boolean {
  return error !== null && !(error instanceof CallError && error.status > 0 && error.status < 502);
}

/** The page's clock, updated a few times a second. */
function useNow(): number {
  const [now, setNow] = useState(() => performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** Reports key presses, pointer moves and browser navigation: at once, then at most every few seconds, including the last one. */
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
