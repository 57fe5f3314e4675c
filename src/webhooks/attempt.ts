import type { Egress, OutgoingRequest } from './egress.ts';
import type { Endpoint } from './endpoint.ts';
import { TYPE_NAMES } from './notification.ts';
import type { Outcome } from './outcome.ts';
import type { Delivery } from './queue.ts';
import { signature, standardSignature } from './signature.ts';
import { ownHeaderNames } from './subscription-rules.ts';

/** Makes the requests of attempts, with the headers of the service interface in the brand's words. */
export class Signer {
  readonly #names: ReturnType<typeof ownHeaderNames>;
  /** In small letters. */
  readonly reserved: ReadonlySet<string>;
  readonly #userAgent: string;

  /** @param brand LOMBARD_BRAND */
  constructor(brand: string) {
    this.#names = ownHeaderNames(brand);
    this.reserved = new Set(this.#names.map((name) => name.toLowerCase()));
    this.#userAgent = `${brand}-Webhooks/1`;
  }

  /**
   * The request of one attempt: the headers of the specification, those of Standard Webhooks, then the subscription's own.
   * @param deliveryId new for each attempt
   * @param now service time
   */
  request(endpoint: Endpoint, delivery: Delivery, deliveryId: string, now: Date): OutgoingRequest {
    const [clientId, signed, webhook, notificationId, delivered, attemptNumber] = this.#names;
    const seconds = Math.floor(now.getTime() / 1_000);
    const headers = [
      'content-type',
      'application/json',
      'user-agent',
      this.#userAgent,
      clientId,
      delivery.clientId,
      signed,
      signature(endpoint.secret, endpoint.urlText, delivery.body),
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
      standardSignature(endpoint.secretsAt(now.getTime()), delivery.id, seconds, delivery.body),
    ];
    for (const part of endpoint.extraHeaders) headers.push(part);
    return { method: 'POST', url: endpoint.url, headers, body: delivery.body, connections: endpoint.id };
  }

  /**
   * Sends a signed request that is no notification: a statement that is pushed (docs/decisions.md, 5). The signature covers the URL as given
   * and the body, as that of a notification does.
   * @param request `secret`: the empty text where none is configured; `id`: stays the same when the request is repeated; `headers`: names and values in turns
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
      standardSignature([request.secret], request.id, seconds, request.body),
    ];
    return egress.send({ method: request.method, url: new URL(request.url), headers, body: request.body });
  }
}
