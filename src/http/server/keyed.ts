import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { checkSameRequest, findAnswer, type KeyedRequest, MAX_IDEMPOTENCY_KEY } from '../../operator/idempotency.ts';
import { Problem } from '../../values/errors.ts';
import { replayed, sendAnswer } from './change.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The Idempotency-Key of a client's POST. */
    keyed: KeyedRequest | undefined;
    /** Why the body of a request with a key cannot be read. It is reported unless the key determines the answer. */
    bodyFault: Error | undefined;
  }
}

/** At most MAX_IDEMPOTENCY_KEY characters. */
const KEY = /^[!-~]{1,255}$/;

/**
 * Lets the POSTs of a listener have keys. A stored answer is found before the body is parsed. The same key, query and bytes of the body get
 * it again; a different request under the key is refused.
 */
export function answerKeyed(app: FastifyInstance, { pool, vault }: Pick<Context, 'pool' | 'vault'>): void {
  app.decorateRequest('keyed', undefined);
  app.decorateRequest('bodyFault', undefined);
  app.addHook('preValidation', async (request, reply) => {
    const { keyed, bodyFault } = request;
    if (!keyed) return;
    if (keyed.sha256.length === 0) takeBytes(request, Buffer.alloc(0));
    const known = await findAnswer(pool, vault, keyed.key, request.now);
    if (known) {
      checkSameRequest(known, keyed.sha256);
      return sendAnswer(reply, { ...known, headers: replayed(known) });
    }
    if (bodyFault) throw bodyFault;
  });
}

/**
 * Reads the key of a request, if that request may have one.
 * @param options `whose`: what the key belongs to besides method and path, since others may use the same key; `taken`: false for a request that
 * only tries a change, whose key is checked and stays free
 * @throws Problem invalid_parameter
 */
export function readKey(request: FastifyRequest, { whose, taken }: { whose: string[]; taken: boolean }): void {
  const key = request.headers['idempotency-key'];
  if (key === undefined || request.method !== 'POST') return;
  if (typeof key !== 'string' || !KEY.test(key))
    throw new Problem('invalid_parameter', {
      field: 'Idempotency-Key',
      message: `must have 1 to ${MAX_IDEMPOTENCY_KEY} characters from ! to ~`,
    });
  if (!taken) return;
  const [path = ''] = request.url.split('?', 1);
  // A header has no line breaks, so a key of the institution can never look like this.
  request.keyed = { key: [...whose, `${request.method} ${path}`, key].join('\n'), sha256: Buffer.alloc(0) };
}

/** Adds what identifies a request with a key: its query, and its body as it was sent. */
export function takeBytes(request: FastifyRequest, body: Buffer): void {
  if (!request.keyed) return;
  const query = request.url.slice(request.url.indexOf('?') + 1 || request.url.length);
  request.keyed.sha256 = createHash('sha256').update(`${query}\n`).update(body).digest();
}
