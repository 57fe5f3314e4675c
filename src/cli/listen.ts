import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { LombardError } from '../../sdk/src/index.ts';
import { ServiceClock } from '../values/calendar.ts';
import { WEBHOOK_TYPES } from '../webhooks/notification.ts';
import { EventSourceReader } from './event-source.ts';
import {
  answered,
  CommandFailure,
  errorMessage,
  httpAddress,
  INTERRUPTED,
  interruptions,
  isOutage,
} from './failure.ts';
import { type Forwarded, Forwarder, type StreamedNotification } from './forwarder.ts';
import { type Call, example, type Frame, someOf } from './frame.ts';
import { openSession, type Session, type SessionOptions } from './session.ts';

const SECRET_BYTES = 32;
/** Milliseconds before a stream that was cut off is opened again. */
const REOPEN_AFTER_MS = 300;
/** Milliseconds that the service has to remove the subscription after an interruption, and after a second one. */
const END_WITHIN_MS = 4_000;
const END_AT_ONCE_WITHIN_MS = 1_000;
const CREATE = `mutation ($subscription: SubscriptionInput!) {
  createSubscription(input: {subscription: $subscription}) { subscription { id } } }`;

/** `lombard listen`. */
export function listenCommand(frame: Frame): void {
  const listen = frame.program
    .command('listen')
    .description('receive the notifications of the client here, without a public address')
    .requiredOption('--forward-to <url>', 'where each is forwarded to, as http://127.0.0.1:3000/webhooks')
    .addOption(someOf('--types <list>', 'types of notification, comma separated; all by default', WEBHOOK_TYPES))
    .option('--print', 'print the bodies too');
  example(
    listen,
    'listen --forward-to http://127.0.0.1:3000/webhooks',
    'listen --forward-to http://127.0.0.1:3000/webhooks --types PAYMENT_STATUS_CHANGE --print',
  );
  frame.asContact(listen, listenUntilInterrupted);
}

async function listenUntilInterrupted(call: Call & { session: Session }): Promise<number> {
  const { options, globals, print } = call;
  const current = { session: call.session };
  const url = String(options.forwardTo);
  httpAddress('--forward-to', url);
  const types = options.types ?? [...WEBHOOK_TYPES];
  const interrupted = interruptions();
  const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
  const report = (forwarded: Forwarded, notification: StreamedNotification) => {
    print.entry(line(forwarded), { ...forwarded, ...(options.print ? { body: notification.body } : {}) });
    if (options.print) print.note(notification.body);
  };
  const clock = new ServiceClock();
  const forwarder = new Forwarder({ url, secret, stopped: interrupted.first, clock }, report);
  const made = await call.session.lombard
    .graphql<{ createSubscription: { subscription: { id: string } } }>(
      CREATE,
      { subscription: { delivery: 'STREAM', types, active: true } },
      { signal: timeFor(interrupted) },
    )
    .catch((error) => {
      throw interrupted.first.aborted ? new CommandFailure('the service did not answer in time', INTERRUPTED) : error;
    });
  const { id } = made.createSubscription.subscription;
  try {
    print.entry(`listening; the secret of the signatures is ${secret}`, {
      subscription_id: id,
      secret,
      forward_to: url,
    });
    await follow(current, { id, forwarder, globals, signal: interrupted.first });
    await forwarder.idle();
  } finally {
    await remove(current.session, id, timeFor(interrupted));
    const { came, accepted, failed } = forwarder.counts;
    print.entry(`${came} came, ${accepted} accepted, ${failed} failed`, { came, accepted, failed });
  }
  return INTERRUPTED;
}

/** Aborted if a call has not been answered in time after an interruption. The first one allows seconds, the second one less. */
function timeFor({ first, second }: { first: AbortSignal; second: AbortSignal }): AbortSignal {
  const over = new AbortController();
  const end = (after: number) => () => setTimeout(() => over.abort(), after).unref();
  for (const [signal, after] of [
    [first, END_WITHIN_MS],
    [second, END_AT_ONCE_WITHIN_MS],
  ] as const) {
    if (signal.aborted) end(after)();
    else signal.addEventListener('abort', end(after), { once: true });
  }
  return over.signal;
}

/** Removes the subscription. If the service does not answer, it removes the subscription itself after nobody has read the stream for ten minutes. */
async function remove({ lombard }: Session, id: string, signal: AbortSignal): Promise<void> {
  try {
    await lombard.subscriptions.delete(id, { signal });
  } catch (error) {
    if (error instanceof LombardError && error.code === 'subscription_not_found') return;
    const why = error instanceof LombardError ? error.code : 'no answer in time';
    process.stderr.write(
      `lombard: the subscription ${id} could not be removed (${why}); the service does so in ten minutes\n`,
    );
  }
}

/**
 * Reads the stream until the signal. A stream that is cut off is opened again after what was read. The service may then listen at another
 * address, so the session is opened again too.
 * @throws LombardError if the sign-in has ended, or the stream no longer exists
 */
async function follow(
  current: { session: Session },
  stream: { id: string; forwarder: Forwarder; globals: SessionOptions; signal: AbortSignal },
): Promise<void> {
  const { id, forwarder, globals, signal } = stream;
  const reader = new EventSourceReader();
  let told = false;
  while (!signal.aborted) {
    try {
      if (told) current.session = await openSession(globals).catch(() => current.session);
      const body = await open(current.session, id, { after: reader.lastId, signal });
      if (told) process.stderr.write('lombard: the service is back\n');
      told = false;
      for await (const { data } of reader.read(body)) await forwarder.take(JSON.parse(data) as StreamedNotification);
    } catch (error) {
      if (!isOutage(error)) throw error;
    }
    if (signal.aborted) return;
    await pause(REOPEN_AFTER_MS, undefined, { signal }).catch(() => {});
    if (told || signal.aborted) continue;
    told = true;
    process.stderr.write('lombard: the connection was lost; it is opened again, and nothing is missed\n');
  }
}

/** @throws LombardError if the service refuses; what `fetch` throws if it does not answer */
async function open(
  session: Session,
  id: string,
  { after, signal }: { after: string | undefined; signal: AbortSignal },
): Promise<AsyncIterable<Uint8Array>> {
  const query = new URLSearchParams({ client_id: session.clientId, subscription_id: id });
  const ask = () =>
    fetch(`${session.profile.api_url}/webhooks/stream?${query}`, {
      headers: {
        authorization: `Bearer ${session.accessToken}`,
        ...(after === undefined ? {} : { 'last-event-id': after }),
      },
      signal,
    });
  let answer = await ask();
  if (answer.status === 401) {
    await answer.arrayBuffer();
    await session.renew(signal);
    answer = await ask();
  }
  const { status, ok, body } = answer;
  if (ok && body) return body;
  const {
    code = String(status),
    details = 'the stream cannot be read',
    message,
  } = errorMessage(await answered(answer)) ?? {};
  throw new LombardError({ status, code, details, message });
}

function line({ at, type, entity, status, reason, milliseconds }: Forwarded): string {
  const time = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' }).format(at);
  return `${time}  ${type.padEnd(36)}  ${entity}  ${status ?? reason}  ${milliseconds} ms`;
}
