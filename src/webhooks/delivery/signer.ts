import { type EndpointSettings, signingSecrets } from '../endpoint-settings.ts';
import { TYPE_NAMES } from '../notification.ts';
import type { Egress, OutgoingRequest } from '../sending/egress.ts';
import type { Outcome } from '../sending/outcome.ts';
import { signature, standardSignature } from '../sending/signature.ts';
import { ownHeaderNames } from '../subscription-rules.ts';
import type { Attempt } from './attempt.ts';
import type { Endpoint } from './endpoint.ts';

/** What the headers of an attempt say. */
interface SignedAttempt extends Pick<Attempt, 'deliveryId' | 'startedAt'> {
  delivery: Pick<Attempt['delivery'], 'id' | 'clientId' | 'type' | 'attempts' | 'body'>;
}

/** Builds the requests of attempts, with the headers of the service interface and the brand in their names. */
export class Signer {
  readonly #names: ReturnType<typeof ownHeaderNames>;
  /** The names of the service's own headers, in lower case. */
  readonly reserved: ReadonlySet<string>;
  readonly #userAgent: string;

  /** @param brand LOMBARD_BRAND */
  constructor(brand: string) {
    this.#names = ownHeaderNames(brand);
    this.reserved = new Set(this.#names.map((name) => name.toLowerCase()));
    this.#userAgent = `${brand}-Webhooks/1`;
  }

  /**
   * The request of one attempt: the headers of the service interface, those of Standard Webhooks, and the subscription's own. The URL is
   * signed exactly as it was registered.
   */
  request(endpoint: Endpoint, attempt: Attempt): OutgoingRequest {
    const { settings } = endpoint;
    const headers = this.headers(settings, attempt);
    return { method: 'POST', url: settings.url, headers, body: attempt.delivery.body, connections: endpoint.id };
  }

  /** The headers of one attempt, names and values alternating. */
  headers(settings: EndpointSettings, attempt: SignedAttempt): string[] {
    const [clientId, signed, webhook, notificationId, delivered, attemptNumber] = this.#names;
    const { delivery, deliveryId } = attempt;
    const time = attempt.startedAt.getTime();
    const seconds = Math.floor(time / 1_000);
    const headers = [
      'content-type',
      'application/json',
      'user-agent',
      this.#userAgent,
      clientId,
      delivery.clientId,
      signed,
      signature(settings.secret, settings.urlText, delivery.body),
      webhook,
      TYPE_NAMES[delivery.type],
      notificationId,
      delivery.id,
      delivered,
      deliveryId,
      attemptNumber,
      String(delivery.attempts + 1),
      'webhook-id',
      delivery.id,
      'webhook-timestamp',
      String(seconds),
      'webhook-signature',
      standardSignature(signingSecrets(settings, time), { id: delivery.id, timestamp: seconds, body: delivery.body }),
    ];
    for (const part of settings.extraHeaders) headers.push(part);
    return headers;
  }

  /**
   * Builds a signed request that is not a notification: a statement that is pushed (docs/decisions.md, 5). As with a notification, the
   * signature covers the URL as given and the body.
   * @param request `secret`: the empty text if none is configured; `id`: stays the same when the request is repeated; `headers`: names and
   * values alternating
   */
  signedRequest(
    egress: Egress,
    request: {
      method: 'POST' | 'PUT';
      url: string;
      body: Buffer;
      secret: string;
      id: string;
      clientId: string;
      headers: readonly string[];
      now: Date;
    },
  ): Promise<Outcome> {
    const [clientId, signed, , notificationId] = this.#names;
    const seconds = Math.floor(request.now.getTime() / 1_000);
    const headers = [
      ...request.headers,
      'user-agent',
      this.#userAgent,
      clientId,
      request.clientId,
      signed,
      signature(request.secret, request.url, request.body),
      notificationId,
      request.id,
      'webhook-id',
      request.id,
      'webhook-timestamp',
      String(seconds),
      'webhook-signature',
      standardSignature([request.secret], { id: request.id, timestamp: seconds, body: request.body }),
    ];
    return egress.send({ method: request.method, url: new URL(request.url), headers, body: request.body });
  }
}
