import { request } from 'undici';
import type { Config } from '../config.ts';
import type { Db } from '../database.ts';

/** Milliseconds for the gateway to answer. */
const GATEWAY_TIMEOUT = 5_000;

/**
 * Sends a text: to the gateway (LOMBARD_SMS_URL, a POST of {to, text}), or in the sandbox without one to the operator's list.
 * Never inside a transaction.
 * @throws Error where the gateway does not answer 2xx in time, or production has none
 */
export async function sendText(db: Db, config: Config, to: string, text: string, now: Date): Promise<void> {
  if (config.smsUrl === undefined) {
    if (config.environment === 'production') throw new Error('LOMBARD_SMS_URL is not set');
    await db.query('insert into text_messages (sent_at, recipient, text) values ($1, $2, $3)', [now, to, text]);
    return;
  }
  const url = new URL(config.smsUrl);
  const credentials =
    url.username === '' ? undefined : `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = '';
  url.password = '';
  const { statusCode, body } = await request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(credentials === undefined ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
    },
    body: JSON.stringify({ to, text }),
    signal: AbortSignal.timeout(GATEWAY_TIMEOUT),
  });
  await body.dump();
  if (statusCode < 200 || statusCode > 299) throw new Error(`the text gateway answered ${statusCode}`);
}
