import { type Clock, monotonic } from '../values/calendar.ts';
import { late } from '../values/late.ts';
import { codeOf, errorOf, fieldsOf, listOf, messageOf } from '../values/unknown.ts';
import { TYPE_NAMES } from '../webhooks/notification.ts';
import { signature, standardSignature } from '../webhooks/sending/signature.ts';

const undici = late((require) => require('undici') as typeof import('undici'));

/** A notification from the stream. */
export interface StreamedNotification {
  id: string;
  headers: Record<string, string>;
  body: string;
}

/** The result of one forward. */
export interface Forwarded {
  /** When the receiver answered, or the forward failed. */
  at: Date;
  id: string;
  type: string;
  /** The record that it is about, if its body says so. */
  entity: string;
  /** The receiver's status; null where no answer came. */
  status: number | null;
  /** The reason, if no answer came. */
  reason: string | null;
  milliseconds: number;
  accepted: boolean;
}

/** Milliseconds for a receiver's answer, the same as the service allows. */
const FORWARD_TIMEOUT_MS = 10_000;
/** The most notifications that wait for their receiver. Beyond that no more are read. */
const MAX_WAITING = 500;
/** The header with the type. Its brand word is that of all the service's headers. */
const TYPE_HEADER = /^x-(.+)-webhook$/i;

/** Forwards notifications to a receiver, and signs them for it. Those of one entity are sent in order. */
export class Forwarder {
  readonly #url: string;
  readonly #secret: string;
  readonly #stopped: AbortSignal;
  readonly #clock: Clock;
  readonly #report: (forwarded: Forwarded, notification: StreamedNotification) => void;
  /** The last forward of each entity that has one. */
  readonly #last = new Map<string, Promise<void>>();
  #came = 0;
  #accepted = 0;
  #waiting = 0;
  #room: (() => void) | undefined;

  /** @param target `stopped`: once it is aborted, nothing more is forwarded, and forwards in progress count as failed */
  constructor(
    target: { url: string; secret: string; stopped: AbortSignal; clock: Clock },
    report: (forwarded: Forwarded, notification: StreamedNotification) => void,
  ) {
    this.#url = target.url;
    this.#secret = target.secret;
    this.#stopped = target.stopped;
    this.#clock = target.clock;
    this.#report = report;
  }

  /** How many arrived, and how many were accepted or failed. */
  get counts(): { came: number; accepted: number; failed: number } {
    return { came: this.#came, accepted: this.#accepted, failed: this.#came - this.#accepted - this.#waiting };
  }

  /** Accepts a notification. Resolves when there is room for the next one. */
  async take(notification: StreamedNotification): Promise<void> {
    this.#came += 1;
    this.#waiting += 1;
    const entity = entityOf(notification);
    const mine = (this.#last.get(entity) ?? Promise.resolve()).then(() => this.#forward(notification, entity));
    this.#last.set(entity, mine);
    void mine.then(() => {
      if (this.#last.get(entity) === mine) this.#last.delete(entity);
      this.#waiting -= 1;
      this.#room?.();
    });
    if (this.#waiting < MAX_WAITING) return;
    await new Promise<void>((resolve) => {
      this.#room = resolve;
    });
  }

  /** Resolves when everything that was accepted has been forwarded, or has failed. */
  async idle(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values());
  }

  async #forward(notification: StreamedNotification, entity: string): Promise<void> {
    if (this.#stopped.aborted) return;
    const began = monotonic();
    const { status, reason } = await this.#post(notification);
    const accepted = status !== null && status >= 200 && status < 300;
    if (accepted) this.#accepted += 1;
    const milliseconds = Math.round(monotonic() - began);
    const { id } = notification;
    const at = this.#clock.now();
    this.#report({ at, id, type: typeOf(notification), entity, status, reason, milliseconds, accepted }, notification);
  }

  async #post(notification: StreamedNotification): Promise<Pick<Forwarded, 'status' | 'reason'>> {
    try {
      // Not fetch, because it refuses some ports on which a developer's receiver may well listen.
      const { statusCode, body } = await undici().request(this.#url, {
        method: 'POST',
        headers: this.#signed(notification),
        body: notification.body,
        signal: AbortSignal.any([AbortSignal.timeout(FORWARD_TIMEOUT_MS), this.#stopped]),
      });
      await body.dump();
      return { status: statusCode, reason: null };
    } catch (error) {
      if (this.#stopped.aborted) return { status: null, reason: 'interrupted' };
      const late = errorOf(error).name === 'TimeoutError';
      return { status: null, reason: late ? 'no answer within 10 s' : (codeOf(error) ?? messageOf(error)) };
    }
  }

  /** The service's headers, with both signatures made again for this receiver. */
  #signed({ headers, body }: StreamedNotification): Record<string, string> {
    const brand = brandOf(headers);
    const signed: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) {
      const lower = name.toLowerCase();
      if (lower === `x-${brand}-signature`) signed[name] = signature(this.#secret, this.#url, body);
      else if (lower === 'webhook-signature') signed[name] = standardSignature([this.#secret], sentAs(headers, body));
      else signed[name] = value;
    }
    return signed;
  }
}

/** The parts that the signature of Standard Webhooks covers. */
function sentAs(headers: Record<string, string>, body: string): { id: string; timestamp: number; body: string } {
  return { id: headers['webhook-id'] ?? '', timestamp: Number(headers['webhook-timestamp']), body };
}

/** The brand word in lower case. A subscription's own header may look like one of the service's; the right one contains the notification's id. */
function brandOf(headers: Record<string, string>): string {
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  for (const name of names) {
    const brand = TYPE_HEADER.exec(name)?.[1];
    if (brand !== undefined && names.has(`x-${brand}-notification-id`)) return brand;
  }
  return 'service';
}

/** The WebhookType, or PING. */
function typeOf({ headers }: StreamedNotification): string {
  const wanted = `x-${brandOf(headers)}-webhook`;
  const value = Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1];
  return Object.entries(TYPE_NAMES).find(([, name]) => name === value)?.[0] ?? value ?? '';
}

/** The fields that name the entity of a notification, the most exact one first. */
const ENTITY_IDS = [
  ...['payment_id', 'trade_id', 'transaction_id', 'beneficiary_id'],
  ...['mass_payment_id', 'mass_beneficiary_id', 'id'],
];

/** The id of the entity of a notification; its own id if the body has none. */
function entityOf({ id, body }: StreamedNotification): string {
  try {
    const [entity] = listOf(fieldsOf(JSON.parse(body)).data);
    const fields = fieldsOf(entity);
    const found = ENTITY_IDS.map((name) => fields[name]).find((one) => one != null);
    return found === undefined ? id : String(found);
  } catch {
    return id;
  }
}
