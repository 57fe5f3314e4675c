import { createHash, createHmac } from 'node:crypto';
import type { ChainKey } from './key.ts';

/**
 * The links of the chain. A link is an HMAC-SHA-256 (RFC 2104), under the chain's key, of the previous link, the position, and the mark of
 * the row. A mark is the HMAC of the row's content. Links from before there was a key are the SHA-256 of the previous link and the content.
 */

/** The value that stands for the link before the first one. */
export const GENESIS = Buffer.alloc(32);

const MOMENT = `to_char(a.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')`;

/**
 * The content of a row `a` as SQL: a text that no other row can have. Rows without a reason and a person have the same text as before these
 * fields existed.
 */
export const KEYED_CONTENT = `json_build_array(a.id, ${MOMENT}, a.actor, a.request_id, a.action, a.entity, a.entity_id, a.client_id,
  a.before::text, a.after::text)::text
  || case when a.reason is null and a.staff is null then '' else json_build_array(a.reason, a.staff::text)::text end`;

/** The same for rows that were sealed before there was a key. */
export const UNKEYED_CONTENT = `concat_ws(E'\\x1f', a.id, ${MOMENT}, a.actor, a.request_id, a.action, a.entity,
  a.entity_id, coalesce(a.client_id, ''), coalesce(a.before::text, ''), coalesce(a.after::text, ''))`;

/** An HMAC of texts and bytes. The purpose keeps different uses apart. */
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
