import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { nextWait, parseRetryAfter } from '../webhooks/delivery/schedule.ts';
import { Signer } from '../webhooks/delivery/signer.ts';
import { Egress } from '../webhooks/sending/egress.ts';
import { succeeded } from '../webhooks/sending/outcome.ts';
import { ownHeaderNames } from '../webhooks/subscription-rules.ts';
import type { StatementFile } from './file.ts';
import type { StatementDelivery } from './queue.ts';
import type { Spool } from './spool.ts';

/** The most bytes of a file that is pushed. Its signature covers the whole file, which is therefore in memory. */
const MAX_PUSH_BYTES = 67_108_864;

/** A push that was not accepted. */
export class PushFailure extends Error {
  /** Milliseconds until the next attempt; undefined if there is none. */
  readonly wait: number | undefined;

  constructor(message: string, wait: number | undefined) {
    super(message);
    this.name = 'PushFailure';
    this.wait = wait;
  }
}

/**
 * Pushes statements with a PUT to the client's statement_push_url. As with webhooks, the request is signed and retried, and its address is
 * checked (docs/decisions.md, 5 and 6).
 */
export class Pusher {
  readonly #context: Context;
  readonly #egress: Egress;
  readonly #signer: Signer;

  constructor(context: Context) {
    const { config } = context;
    this.#context = context;
    this.#egress = new Egress({ allow: config.webhookAllow, timeoutMs: config.webhookTimeout });
    this.#signer = new Signer(config.brand);
  }

  /** @throws PushFailure */
  async push(delivery: StatementDelivery, file: StatementFile, spool: Spool): Promise<void> {
    const { config, clock } = this.#context;
    if (spool.size > MAX_PUSH_BYTES)
      throw new PushFailure(`the file has ${spool.size} bytes, and at most ${MAX_PUSH_BYTES} are pushed`, undefined);
    const { url, secret } = await this.#destination(delivery.client_id);
    const [, , , , deliveryId, attemptNumber] = ownHeaderNames(config.brand);
    const now = clock.now();
    const outcome = await this.#signer.signedRequest(this.#egress, {
      method: 'PUT',
      url,
      body: await spool.bytes(),
      secret,
      // Each file has its own id, which is the same in every attempt.
      id: delivery.currency === '' ? delivery.statement_id : `${delivery.statement_id}-${delivery.currency}`,
      clientId: delivery.client_id,
      headers: [
        'content-type',
        file.contentType,
        'content-disposition',
        `attachment; filename="${file.filename}"`,
        deliveryId,
        randomUUID(),
        attemptNumber,
        String(delivery.attempts),
      ],
      now,
    });
    if (succeeded(outcome)) return;
    const { statusCode, headers, reason } = outcome;
    const complaint = reason === null ? `the receiver answered ${statusCode}` : `the push failed: ${reason}`;
    if (statusCode === 410) throw new PushFailure(`${complaint}: it is gone`, undefined);
    const asked = parseRetryAfter(headers?.['retry-after'], now);
    throw new PushFailure(
      complaint,
      nextWait(config.webhookRetries, { made: delivery.round_attempts, retryAfter: asked, random: Math.random() }),
    );
  }

  /** The client's address for statements, and the key. They are read at every attempt, so that a wrong address can be corrected in between. */
  async #destination(clientId: string): Promise<{ url: string; secret: string }> {
    const { backgroundPool, vault, config } = this.#context;
    const { rows } = await backgroundPool.query<{ url: string | null; secret: Buffer | null }>(
      'select statement_push_url as url, statement_push_secret as secret from clients where client_id = $1',
      [clientId],
    );
    const { url = null, secret = null } = rows[0] ?? {};
    if (url === null) throw new PushFailure('the client no longer has a statement_push_url', undefined);
    if (config.environment !== 'sandbox' && !url.startsWith('https:'))
      throw new PushFailure('the client’s statement_push_url is not an https address', undefined);
    return { url, secret: secret === null ? '' : vault.open(secret, 'statement_push_secret') };
  }

  /** Ends the pushes in flight. */
  close(): Promise<void> {
    return this.#egress.close();
  }
}
