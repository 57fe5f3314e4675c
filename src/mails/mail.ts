import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import type { Transporter } from 'nodemailer';
import type SMTPPool from 'nodemailer/lib/smtp-pool/index.js';
import type { Db } from '../database/database.ts';
import type { Config } from '../settings/config.ts';
import type { Logo } from '../settings/institution.ts';
import { late } from '../values/late.ts';
import { codeOf, fieldsOf, messageOf } from '../values/unknown.ts';
import { LOGO_ID } from './mail-page.ts';

const nodemailer = late((require) => require('nodemailer') as typeof import('nodemailer'));

const DNS_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 10_000;
const GREETING_TIMEOUT_MS = 10_000;
const SILENCE_TIMEOUT_MS = 60_000;
/** Milliseconds for a whole mail. So a server that answers slowly, but never falls silent, does not hold a connection forever. */
const MAIL_DEADLINE_MS = 600_000;
/** The most connections of one process. */
const MAX_CONNECTIONS = 4;
const MAX_MAILS_PER_CONNECTION = 100;
/** The most characters that are stored of the mail server's error. */
const MAX_ERROR_CHARACTERS = 500;

export interface Attachment {
  filename: string;
  /** Media type, with its charset. */
  contentType: string;
  /** Bytes. */
  size: number;
  /** Returns a new stream of the content each time. */
  content: () => Readable;
}

export interface Mail {
  /** `<...@...>`. It stays the same when the mail is sent again. */
  messageId: string;
  to: { name: string; address: string };
  subject: string;
  text: string;
  html: string;
  /** The logo, if the HTML shows it. */
  logo: Logo | undefined;
  attachments: Attachment[];
}

/** A mail was not accepted. `permanent`: the server refused this mail or its recipient, and would refuse it again. */
export class MailFailure extends Error {
  readonly permanent: boolean;

  constructor(message: string, permanent: boolean, options?: { cause?: unknown }) {
    super(message.replace(/\s+/g, ' ').slice(0, MAX_ERROR_CHARACTERS), options);
    this.name = 'MailFailure';
    this.permanent = permanent;
  }
}

/**
 * Sends mails by SMTP (SMTP_URL). `smtps:` uses TLS from the start. `smtp:` switches to TLS if the server offers it; in production it
 * requires TLS unless the server is on this machine. The query of the URL may contain nodemailer's settings, such as `?requireTLS=true` or
 * `?tls.servername=mail.example.com`.
 */
export class Mailer {
  readonly #transport: Transporter<SMTPPool.SentMessageInfo>;
  readonly #from: string;
  readonly #closing = new AbortController();

  constructor(smtpUrl: string, config: Pick<Config, 'mailFrom' | 'environment'>) {
    this.#from = config.mailFrom;
    const url = new URL(smtpUrl);
    const local = /^(localhost|127\.[0-9.]+|\[::1\])$/.test(url.hostname);
    // Settings in the URL override these.
    const options: SMTPPool.Options & { maxRequeues: number } = {
      url: url.href,
      pool: true,
      maxConnections: MAX_CONNECTIONS,
      maxMessages: MAX_MAILS_PER_CONNECTION,
      // The caller records the failure and sends the mail again. A retry by nodemailer might send it twice.
      maxRequeues: 0,
      requireTLS: url.protocol === 'smtp:' && config.environment === 'production' && !local,
      dnsTimeout: DNS_TIMEOUT_MS,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      greetingTimeout: GREETING_TIMEOUT_MS,
      socketTimeout: SILENCE_TIMEOUT_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    };
    this.#transport = nodemailer().createTransport(options);
    // A connection that breaks while idle affects no mail.
    this.#transport.on('error', () => undefined);
  }

  /**
   * Streams the mail to the server. Resolves when the server has accepted it.
   * @throws MailFailure
   */
  async send(mail: Mail): Promise<void> {
    const { attachments, logo, ...fields } = mail;
    try {
      await this.#transport.sendMail({
        ...fields,
        from: this.#from,
        signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(MAIL_DEADLINE_MS)]),
        headers: { 'Auto-Submitted': 'auto-generated' },
        attachments: [
          ...(logo ? [inline(logo)] : []),
          ...attachments.map(({ filename, contentType, content }) => ({
            filename,
            contentType,
            content: content(),
            contentDisposition: 'attachment' as const,
          })),
        ],
      });
    } catch (error) {
      // nodemailer reports its own code, the SMTP command that failed, and the server's reply code.
      const { command, responseCode } = fieldsOf(error);
      const [code, message, refused] = [codeOf(error) ?? '', messageOf(error), Number(responseCode) >= 500];
      // Permanent: a 5xx reply to the recipient or the content, or a mail too large for the server. A refused login or sender is a fault in
      // the institution's configuration, which will be corrected.
      const content = code === 'EMESSAGE' && (refused || command === 'MAIL FROM');
      const recipient = code === 'EENVELOPE' && refused && command !== 'MAIL FROM';
      throw new MailFailure(code ? `${code}: ${message}` : message, content || recipient, { cause: error });
    }
  }

  /** Connects and signs in, but sends nothing. @throws Error if the server or the network refuses */
  async verify(): Promise<void> {
    await this.#transport.verify();
  }

  /** Closes every connection; mails in flight fail. */
  close(): void {
    this.#closing.abort();
    this.#transport.close();
  }
}

/** The logo as a part that the HTML shows, rather than a file to save. */
function inline({ path, data }: Logo) {
  const [content, contentDisposition] = [Buffer.from(data), 'inline' as const];
  return { filename: basename(path), contentType: 'image/png', cid: LOGO_ID, content, contentDisposition };
}

/** The Message-ID of a mail about an entity: `<statement-...@domain>`, in the domain of the sender's address. */
export function messageIdOf(entity: string, mailFrom: string): string {
  const domain = /@([A-Za-z0-9.-]+)>?\s*$/.exec(mailFrom)?.[1] ?? 'localhost';
  return `<${entity}@${domain}>`;
}

/**
 * Puts a mail into the sandbox's mailbox (GET /mailbox of the operator interface), with the logo inside its HTML. A second mail with the
 * same Message-ID is ignored.
 */
export async function keepMail(db: Db, mail: Mail, now: Date): Promise<void> {
  const attachments = [];
  for (const { filename, contentType, content } of mail.attachments) {
    const chunks: Buffer[] = [];
    for await (const chunk of content()) chunks.push(Buffer.from(chunk));
    attachments.push({ filename, content_type: contentType, content: Buffer.concat(chunks).toString('base64') });
  }
  const { to, subject, text, logo } = mail;
  const image = logo && `data:image/png;base64,${Buffer.from(logo.data).toString('base64')}`;
  const html = image ? mail.html.replace(`src="cid:${LOGO_ID}"`, `src="${image}"`) : mail.html;
  await db.query(
    'insert into mailbox (sent_at, message_id, mail) values ($1, $2, $3) on conflict (message_id) do nothing',
    [now, mail.messageId, JSON.stringify({ to: to.address, subject, text, html, attachments } satisfies ShownMail)],
  );
}

/** The most mails of the sandbox's mailbox in one answer. */
const MAX_SHOWN_MAILS = 1_000;

/** A mail in its stored form. */
interface ShownMail {
  to: string;
  subject: string;
  text: string;
  html: string;
  /** `content` in base64. */
  attachments: { filename: string; content_type: string; content: string }[];
}

/** The newest mails of the sandbox's mailbox. */
export async function listMailbox(db: Db): Promise<(ShownMail & { message_id: string; sent_at: string })[]> {
  const { rows } = await db.query<{ mail: ShownMail; message_id: string; sent_at: Date }>(
    'select mail, message_id, sent_at from mailbox order by id desc limit $1',
    [MAX_SHOWN_MAILS],
  );
  return rows.map((row) => ({ ...row.mail, message_id: row.message_id, sent_at: row.sent_at.toISOString() }));
}

/** When a mail is tried again (docs/decisions.md, 5). Pushed statements use the schedule of webhooks. */

/** Milliseconds to wait after the first failure. Each further wait is twice as long, up to the longest. */
const FIRST_WAIT_MS = 30_000;
const MAX_WAIT_MS = 1_800_000;
/** Milliseconds after the request during which a mail is tried again. */
const MAIL_RETRY_MS = 86_400_000;
/** The fraction by which a wait is lengthened or shortened. */
const JITTER = 0.1;

/**
 * Milliseconds until the next attempt, or undefined if the time is up.
 * @param made attempts so far, at least 1
 * @param age milliseconds since the request
 * @param random from 0 up to 1
 */
export function mailWait(made: number, age: number, random: number): number | undefined {
  const left = MAIL_RETRY_MS - age;
  if (left <= 0) return undefined;
  const wait = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(made - 1, 16)) * (1 - JITTER + 2 * JITTER * random);
  // The last attempt is made at the end of the period, not up to half an hour earlier.
  return Math.round(Math.min(wait, left));
}
