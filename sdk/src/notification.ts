import { nowMs } from './calendar.ts';
import { parse } from './decimal.ts';
import { LombardError } from './error.ts';
import type { Notifications } from './generated/api.ts';
import type { Payment } from './payments.ts';
import { constantTimeEqual, interfaceSignature, standardSignature } from './signature.ts';

/** Every type of notification that a subscription can name, with its name in X-<Brand>-Webhook. */
interface TypeNames {
  TRADE_STATUS_CHANGE: 'TradeStatusChange';
  PAYMENT_STATUS_CHANGE: 'PaymentStatusChange';
  CREDIT_INCOMING_TRANSACTION: 'CreditIncomingTransaction';
  CREDIT_MARGIN_TRANSACTION: 'CreditMarginTransaction';
  CREDIT_PAYMENT_RETURNED_TRANSACTION: 'CreditPaymentReturnedTransaction';
  CREDIT_TRANSACTION: 'CreditTransaction';
  DEBIT_TRANSACTION: 'DebitTransaction';
  ONBOARDING_STATUS_CHANGE: 'OnboardingStatusChange';
  BENEFICIARY_STATUS_CHANGE: 'BeneficiaryStatusChange';
  MASS_PAYMENT_STATUS_CHANGE: 'MassPaymentStatusChange';
  MASS_BENEFICIARY_STATUS_CHANGE: 'MassBeneficiaryStatusChange';
  PING: 'Ping';
}

export type WebhookType = Exclude<keyof TypeNames, 'PING'>;

/** Bodies that the API description does not name. */
interface OtherBodies {
  PaymentStatusChange: { data: Payment[]; payment_webhook_status: string[] };
  Ping: unknown;
}
type BodyOf<Name extends string> = Name extends keyof Notifications
  ? Notifications[Name]
  : Name extends keyof OtherBodies
    ? OtherBodies[Name]
    : { data: Record<string, unknown>[] };

/** A notification with a valid signature; `type` determines its body. */
export type Notification = {
  [T in keyof TypeNames]: {
    /** The same for every attempt: use it to recognise notifications that you have already received. */
    id: string;
    type: T;
    clientId: string;
    body: BodyOf<TypeNames[T]>;
  };
}[keyof TypeNames];

/** Headers in the form that servers use: an object (Node, Express, Lambda), `Headers`, or a `Map`. */
export type NotificationHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | Iterable<readonly [string, string | readonly string[]]>;

export interface ReceivedNotification {
  /** The URL exactly as in the subscription: the signature covers it. */
  url: string;
  headers: NotificationHeaders;
  /** The body as it arrived, never as parsed JSON: a change of white space changes the signature. */
  body: string | ArrayBuffer | ArrayBufferView;
  /** The subscription's secret; while it is being replaced, the new one and the old one. */
  secret: string | readonly string[];
  /** Seconds by which `webhook-timestamp` may differ from this machine's clock; the default is 300. */
  tolerance?: number;
}

const DEFAULT_TOLERANCE_SECONDS = 300;
const SIGNATURE_HEADER = /^x-([a-z][a-z0-9]*)-webhook$/;

/**
 * Checks the signatures of a notification. There must be at least one, and each one present must be valid. The brand word in the header
 * names may be any.
 * @throws LombardError `signature_invalid`, whose details say what is wrong
 */
export async function verifyNotification(received: ReceivedNotification): Promise<Notification> {
  const { url, secret, tolerance = DEFAULT_TOLERANCE_SECONDS } = received;
  const headers = headerMap(received.headers);
  const body = bytesOf(received.body);
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const brand = brandOf(headers);
  const own = (name: string) => headers.get(`x-${brand}-${name}`) ?? refuse(`header x-${brand}-${name}: is missing`);

  const signature = headers.get(`x-${brand}-signature`);
  const standard = headers.get('webhook-signature');
  if (signature === undefined && standard === undefined)
    refuse(`header x-${brand}-signature, webhook-signature: there is no signature`);
  if (signature !== undefined) {
    const right = secrets
      .map((key) => interfaceSignature(key, url, body))
      .filter((each) => constantTimeEqual(each, signature));
    if (right.length === 0) refuse(`header x-${brand}-signature: is not of this secret, URL and body`);
  }
  if (standard !== undefined) await checkStandard(headers, standard, body, secrets, tolerance);

  const id = own('notification-id');
  if (standard !== undefined && headers.get('webhook-id') !== id)
    refuse(`header x-${brand}-notification-id: is not the webhook-id that was signed`);
  const type = own('webhook')
    .replace(/(?<=.)[A-Z]/g, '_$&')
    .toUpperCase();
  return { id, type, clientId: own('client-id'), body: parsed(body) } as Notification;
}

/** Checks the signature of Standard Webhooks 1.0. There may be several, and one must be made with a known secret. */
async function checkStandard(
  headers: Map<string, string>,
  given: string,
  body: Uint8Array<ArrayBuffer>,
  secrets: readonly string[],
  toleranceSeconds: number,
): Promise<void> {
  const id = headers.get('webhook-id') ?? refuse('header webhook-id: is missing');
  const timestamp = headers.get('webhook-timestamp') ?? '';
  if (!/^\d{1,12}$/.test(timestamp)) refuse('header webhook-timestamp: must be seconds since 1970');
  const expected = await Promise.all(secrets.map((key) => standardSignature(key, id, timestamp, body)));
  const right = given.split(' ').filter((each) => expected.some((one) => constantTimeEqual(one, each)));
  if (right.length === 0) refuse('header webhook-signature: is not of this secret, id, time and body');
  const awaySeconds = Math.abs(nowMs() / 1_000 - Number(timestamp));
  if (!(awaySeconds <= toleranceSeconds))
    refuse(`header webhook-timestamp: is ${Math.round(awaySeconds)} seconds away, more than ${toleranceSeconds}`);
}

/** The brand word of the headers that belong to a notification. A subscription's own headers may look like one of them. */
function brandOf(headers: Map<string, string>): string {
  const brands = [...headers.keys()]
    .map((name) => SIGNATURE_HEADER.exec(name)?.[1])
    .filter((brand) => brand !== undefined && headers.has(`x-${brand}-notification-id`));
  const [brand] = brands;
  if (brand === undefined || brands.length > 1)
    refuse('headers: must be those of one notification (x-<brand>-webhook, x-<brand>-notification-id, ...)');
  return brand;
}

/** Headers by their lower-case names. */
function headerMap(headers: NotificationHeaders): Map<string, string> {
  if (typeof headers !== 'object' || headers === null) refuse('headers: must be an object, Headers or a Map');
  const entries = Symbol.iterator in headers ? headers : Object.entries(headers);
  const map = new Map<string, string>();
  for (const [name, value] of entries as Iterable<[string, string | readonly string[] | undefined]>) {
    if (value !== undefined) map.set(name.toLowerCase(), typeof value === 'string' ? value : value.join(', '));
  }
  return map;
}

/** A copy, so that the verified bytes are those that are parsed. */
function bytesOf(body: unknown): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(new Uint8Array(body.buffer, body.byteOffset, body.byteLength));
  if (body instanceof ArrayBuffer) return new Uint8Array(body.slice(0));
  return refuse('body: must be the text or the bytes as they came, not parsed JSON');
}

function parsed(body: Uint8Array): unknown {
  try {
    return parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch (cause) {
    return refuse('body: is not JSON in UTF-8', cause);
  }
}

function refuse(details: string, cause?: unknown): never {
  throw new LombardError({ code: 'signature_invalid', message: 'The notification cannot be trusted', details, cause });
}
