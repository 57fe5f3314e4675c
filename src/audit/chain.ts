import { createHash, createHmac } from 'node:crypto';
import type { ChainKey } from './key.ts';

/**
 * The links of the chain. A link is an HMAC-SHA-256 (RFC 2104) under the chain's key over the link before it, the position, and the mark
 * of the row. A mark is the HMAC of the row's content. Links from before there was a key are SHA-256 over the link before and the content.
 */

/** What is before the first link. */
export const GENESIS = Buffer.alloc(32);

const MOMENT = `to_char(a.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`;

/** The content of a row `a` as SQL: one text that no other row can have. Rows that have neither a reason nor a person are as they always were. */
export const KEYED_CONTENT = `json_build_array(a.id, ${MOMENT}, a.actor, a.request_id, a.action, a.entity, a.entity_id, a.client_id,
  a.before::text, a.after::text)::text
  || case when a.reason is null and a.staff is null then '' else json_build_array(a.reason, a.staff::text)::text end`;

/** The same for rows that were sealed before there was a key. */
export const UNKEYED_CONTENT = `concat_ws(E'\\x1f', a.id, ${MOMENT}, a.actor, a.request_id, a.action, a.entity,
  a.entity_id, coalesce(a.client_id, ''), coalesce(a.before::text, ''), coalesce(a.after::text, ''))`;

/** An HMAC over texts and bytes, told apart by what they are for. */
export function mac(key: ChainKey, purpose: string, ...parts: (string | Buffer)[]): Buffer {
  const hmac = createHmac('sha256', key.secret).update(`${purpose}\0`, 'utf8');
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

export function markOf(key: ChainKey, content: string): Buffer {
  return mac(key, 'row', content);
}

export function keyedLink(
  key: ChainKey,
  previous: Buffer,
  { position, mark }: { position: number; mark: Buffer },
): Buffer {
  const place = Buffer.alloc(8);
  place.writeBigUInt64BE(BigInt(position));
  return mac(key, 'link', previous, place, mark);
}

export function unkeyedLink(previous: Buffer, content: string): Buffer {
  return createHash('sha256').update(previous).update(content, 'utf8').digest();
}
