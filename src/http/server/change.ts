import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { type Transaction, together, transaction } from '../../database/database.ts';
import {
  claimKey,
  freeKeys,
  type KeyedRequest,
  MAX_IDEMPOTENCY_KEY,
  type StoredAnswer,
  storeAnswer,
} from '../../operator/idempotency.ts';
import { Problem } from '../../values/errors.ts';
import { present } from '../../values/unknown.ts';
import { sendJson } from '../schemas/reply.ts';
import { holdScopes } from './cells.ts';

/** Describes a change. */
interface ChangeCall<Answer extends StoredAnswer | undefined> {
  /** The Idempotency-Key of the request, if it has one. */
  keyed?: KeyedRequest | undefined;
  /** Whether it is only tried: the transaction then leaves nothing behind. */
  tried?: boolean;
  /** Checks whether the caller may still make the change. @throws Problem */
  confirm: (tx: Transaction) => Promise<unknown>;
  /** Makes the change. Its answer is stored under the key. */
  work: (tx: Transaction) => Promise<Answer>;
}

/**
 * Does the work of a request in one transaction, together with its key. The work starts while the database is still checking the caller and
 * the key. Everything goes to the server together, and is undone if the caller is refused or the key was used before.
 * @throws Problem those of the confirmation first, then idempotency_conflict, then those of the work
 */
export async function runChange<Answer extends StoredAnswer | undefined>(
  { pool, vault }: Pick<Context, 'pool' | 'vault'>,
  request: FastifyRequest,
  { keyed, tried = false, confirm, work }: ChangeCall<Answer>,
): Promise<Answer> {
  try {
    return await transaction(pool, async (tx) => {
      const opening = together([
        confirm(tx),
        request.cellScope && holdScopes(tx, [request]),
        keyed && claimKey(tx, vault, keyed, request.now),
      ]).then(([, , known]) => {
        if (known) throw new Undone({ ...known, headers: replayed(known) });
      });
      const [, answer] = await together([opening, work(tx)]);
      if (tried) {
        await tx.settled();
        throw new Undone(answer);
      }
      if (keyed && answer) storeAnswer(tx, vault, keyed, answer);
      return answer;
    });
  } catch (undone) {
    if (undone instanceof Undone) return undone.answer as Answer;
    throw undone;
  }
}

/** A change that shares a transaction with others. */
export interface SharedCall {
  request: FastifyRequest;
  keyed?: KeyedRequest | undefined;
  /** Who calls. Several calls of one caller are confirmed once. */
  caller: string;
  confirm: (tx: Transaction) => Promise<unknown>;
}

/**
 * Does the work of several requests in one transaction. Their clients are in the same cell. Each has its own answer, refusal and key.
 * @param work for those that are not refused and have no answer yet; undefined leaves a request out
 * @returns the answer or the refusal of each; undefined for one that was left out, or waits for another one with the same key
 * @throws ClientMoves, and what fails for all of them: nothing was done then
 */
export async function runTogether<Call extends SharedCall>(
  { pool, vault }: Pick<Context, 'pool' | 'vault'>,
  calls: readonly Call[],
  work: (tx: Transaction, calls: readonly Call[]) => Promise<(StoredAnswer | Problem | undefined)[]>,
): Promise<(StoredAnswer | Problem | undefined)[]> {
  const outcomes = new Map<Call, StoredAnswer | Problem>();
  await transaction(pool, async (tx) => {
    await holdScopes(
      tx,
      calls.map(({ request }) => request),
    );
    // Keys are claimed in one order. Otherwise two transactions could deadlock.
    const ordered = [...new Map(calls.map((call) => [call.keyed?.key ?? call, call])).values()].toSorted(byKey);
    const confirmed = new Map<string, Promise<unknown>>();
    const opened = await together(
      ordered.map((call) => {
        const confirmation = confirmed.get(call.caller) ?? call.confirm(tx);
        confirmed.set(call.caller, confirmation);
        return open(tx, vault, { ...call, confirmation });
      }),
    );
    for (const [index, outcome] of opened.entries()) if (outcome) outcomes.set(present(ordered[index]), outcome);
    const fit = ordered.filter((call) => !outcomes.has(call));
    const results = await work(tx, fit);
    for (const [index, call] of fit.entries()) {
      const outcome = results[index];
      if (outcome) outcomes.set(call, outcome);
      if (!call.keyed) continue;
      if (!outcome || outcome instanceof Problem) freeKeys(tx, [call.keyed.key]);
      else storeAnswer(tx, vault, call.keyed, outcome);
    }
  });
  return calls.map((call) => outcomes.get(call));
}

/** Sorts in the same order in every process, whatever its language. */
function byKey({ keyed: one }: SharedCall, { keyed: other }: SharedCall): number {
  const [a, b] = [one?.key ?? '', other?.key ?? ''];
  return a < b ? -1 : Number(a > b);
}

/** Checks a caller and a key. @returns why the call is refused, or its earlier answer; undefined: it is to be done */
async function open(
  tx: Transaction,
  vault: Context['vault'],
  { request, keyed, confirmation }: SharedCall & { confirmation: Promise<unknown> },
): Promise<StoredAnswer | Problem | undefined> {
  const [confirmed, claimed] = await Promise.allSettled([
    confirmation,
    keyed && claimKey(tx, vault, keyed, request.now),
  ]);
  const failed = [confirmed, claimed].find(({ status }) => status === 'rejected');
  if (failed?.status !== 'rejected') {
    const known = claimed.status === 'fulfilled' ? claimed.value : undefined;
    return known && { ...known, headers: replayed(known) };
  }
  if (!(failed.reason instanceof Problem)) throw failed.reason;
  if (keyed && claimed.status === 'fulfilled' && !claimed.value) freeKeys(tx, [keyed.key]);
  return failed.reason;
}

/** Thrown to end a transaction that must leave nothing behind: the request was answered before, or is only tried. */
class Undone extends Error {
  readonly answer: StoredAnswer | undefined;

  constructor(answer: StoredAnswer | undefined) {
    super('the request has an answer without its transaction');
    this.answer = answer;
  }
}

/** The headers of an answer that was stored before. */
export function replayed({ headers }: StoredAnswer): Record<string, string> {
  return { ...headers, 'idempotency-replayed': 'true' };
}

/** Sends an answer. It is JSON unless its headers name another type, or none. */
export function sendAnswer(reply: FastifyReply, { status, body, headers = {} }: StoredAnswer): FastifyReply {
  reply.code(status).headers(headers);
  return body === '' || 'content-type' in headers ? reply.send(body || undefined) : sendJson(reply, body);
}

/** The idempotency key of a request, if it has one. @throws Problem invalid_parameter */
export function idempotencyKey(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || key.length === 0 || key.length > MAX_IDEMPOTENCY_KEY) {
    throw new Problem('invalid_parameter', {
      field: 'Idempotency-Key',
      message: `must have 1 to ${MAX_IDEMPOTENCY_KEY} characters`,
    });
  }
  return key;
}
