import type { Db } from '../../database/database.ts';
import type { Config } from '../../settings/config.ts';
import { late } from '../../values/late.ts';

const undici = late((require) => require('undici') as typeof import('undici'));

const GATEWAY_TIMEOUT_MS = 5_000;

interface TextMessage {
  /** Phone number in the form that the operator entered. */
  to: string;
  text: string;
  now: Date;
}

/**
 * Sends a text message through the gateway (LOMBARD_SMS_URL, a POST of {to, text}). A sandbox without a gateway stores it for the operator
 * instead. Must not be called inside a transaction.
 * @throws Error if the gateway does not answer 2xx in time, or if none is configured in production
 */
export async function sendText(db: Db, config: Config, { to, text, now }: TextMessage): Promise<void> {
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
  const { statusCode, body } = await undici().request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(credentials === undefined ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
    },
    body: JSON.stringify({ to, text }),
    signal: AbortSignal.timeout(GATEWAY_TIMEOUT_MS),
  });
  await body.dump();
  if (statusCode < 200 || statusCode > 299) throw new Error(`the text gateway answered ${statusCode}`);
}

/** The most texts of the sandbox's list in one answer. */
const MAX_SHOWN_TEXTS = 1_000;

/** The newest texts of the sandbox's list. */
export async function listTexts(db: Db): Promise<{ to: string; text: string; sent_at: string }[]> {
  const { rows } = await db.query<{ recipient: string; text: string; sent_at: Date }>(
    'select recipient, text, sent_at from text_messages order by id desc limit $1',
    [MAX_SHOWN_TEXTS],
  );
  return rows.map((row) => ({ to: row.recipient, text: row.text, sent_at: row.sent_at.toISOString() }));
}
