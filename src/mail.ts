import type { Readable } from 'node:stream';
import nodemailer, { type Transporter } from 'nodemailer';
import type SMTPPool from 'nodemailer/lib/smtp-pool/index.js';
import type { Config } from './config.ts';
import type { Db } from './database.ts';

/** Milliseconds: the mail server's name, its connection, its greeting, and silence in the middle of a mail. */
const DNS_TIMEOUT = 10_000;
const CONNECTION_TIMEOUT = 10_000;
const GREETING_TIMEOUT = 10_000;
const SILENCE_TIMEOUT = 60_000;
/** Milliseconds for one mail: a server may also trickle. */
const MAIL_DEADLINE = 600_000;
/** Connections to the mail server from one process, and mails that one of them carries. */
const MAX_CONNECTIONS = 4;
const MAILS_OF_CONNECTION = 100;
/** Characters of a mail server's complaint that are kept. */
const MAX_COMPLAINT = 500;

export interface Attachment {
  filename: string;
  /** Media type, with its charset. */
  contentType: string;
  /** Bytes. */
  size: number;
  /** A new stream over the content each time. */
  content: () => Readable;
}

export interface Mail {
  /** `<...@...>`; the same when the mail is sent again. */
  messageId: string;
  to: { name: string; address: string };
  subject: string;
  text: string;
  html: string;
  attachments: Attachment[];
}

/** What nodemailer says of a failure: its own code, the command it came upon, and the server's reply code. */
type SmtpError = Error & { code?: string; command?: string; responseCode?: number };

/** Why a mail was not accepted. `permanent`: the server refused this mail or its recipient, and would do so again. */
export class MailFailure extends Error {
  readonly permanent: boolean;

  constructor(message: string, permanent: boolean, options?: { cause?: unknown }) {
    super(message.replace(/\s+/g, ' ').slice(0, MAX_COMPLAINT), options);
    this.name = 'MailFailure';
    this.permanent = permanent;
  }
}

/**
 * Sends mails by SMTP (SMTP_URL): `smtps:` is TLS from the start; `smtp:` changes to TLS where the server offers it, and in
 * production insists on it unless the server is on this machine. Its query may hold nodemailer's settings, as
 * `?requireTLS=true` or `?tls.servername=mail.example.com`.
 */
export class Mailer {
  readonly #transport: Transporter<SMTPPool.SentMessageInfo>;
  readonly #from: string;
  readonly #closing = new AbortController();

  /** @param config smtpUrl must be set */
  constructor(config: Pick<Config, 'smtpUrl' | 'mailFrom' | 'environment'>) {
    this.#from = config.mailFrom;
    const url = new URL(config.smtpUrl as string);
    const local = /^(localhost|127\.[0-9.]+|\[::1\])$/.test(url.hostname);
    // What stands in the address wins over what stands here.
    this.#transport = nodemailer.createTransport({
      url: url.href,
      pool: true,
      maxConnections: MAX_CONNECTIONS,
      maxMessages: MAILS_OF_CONNECTION,
      // A mail whose connection broke is tried again by whoever recorded it, and by nobody before that is known.
      maxRequeues: 0,
      requireTLS: url.protocol === 'smtp:' && config.environment === 'production' && !local,
      dnsTimeout: DNS_TIMEOUT,
      connectionTimeout: CONNECTION_TIMEOUT,
      greetingTimeout: GREETING_TIMEOUT,
      socketTimeout: SILENCE_TIMEOUT,
      disableFileAccess: true,
      disableUrlAccess: true,
    } as SMTPPool.Options & { maxRequeues: number });
    // A connection that breaks while idle is no mail's failure.
    this.#transport.on('error', () => undefined);
  }

  /**
   * Resolves once the server has accepted the mail; contents are streamed to it.
   * @throws MailFailure
   */
  async send(mail: Mail): Promise<void> {
    const { attachments, ...fields } = mail;
    try {
      await this.#transport.sendMail({
        ...fields,
        from: this.#from,
        signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(MAIL_DEADLINE)]),
        headers: { 'Auto-Submitted': 'auto-generated' },
        attachments: attachments.map(({ filename, contentType, content }) => ({
          filename,
          contentType,
          content: content(),
          contentDisposition: 'attachment' as const,
        })),
      });
    } catch (error) {
      const { code = '', command, responseCode = 0, message } = error as SmtpError;
      // 5xx to the recipient or the content, or too long for the server. To the greeting, the login or the sender it is the
      // institution's affair: it will be mended.
      const content = code === 'EMESSAGE' && (responseCode >= 500 || command === 'MAIL FROM');
      const recipient = code === 'EENVELOPE' && responseCode >= 500 && command !== 'MAIL FROM';
      throw new MailFailure(code ? `${code}: ${message}` : message, content || recipient, { cause: error });
    }
  }

  /** Closes every connection; a mail under way fails. */
  close(): void {
    this.#closing.abort();
    this.#transport.close();
  }
}

/** The Message-ID of a mail about an entity: `<statement-...@domain>`, in the domain of the sender's address. */
export function messageIdOf(entity: string, mailFrom: string): string {
  const domain = /@([A-Za-z0-9.-]+)>?\s*$/.exec(mailFrom)?.[1] ?? 'localhost';
  return `<${entity}@${domain}>`;
}

/**
 * Puts a mail into the sandbox's mailbox (GET /mailbox of the operator interface); a second one with the same Message-ID is none.
 */
export async function keepMail(db: Db, mail: Mail, now: Date): Promise<void> {
  const attachments = [];
  for (const { filename, contentType, content } of mail.attachments) {
    const chunks: Buffer[] = [];
    for await (const chunk of content()) chunks.push(Buffer.from(chunk));
    attachments.push({ filename, content_type: contentType, content: Buffer.concat(chunks).toString('base64') });
  }
  const { to, subject, text, html } = mail;
  await db.query(
    'insert into mailbox (sent_at, message_id, mail) values ($1, $2, $3) on conflict (message_id) do nothing',
    [now, mail.messageId, JSON.stringify({ to: to.address, subject, text, html, attachments })],
  );
}

/** Mails of the sandbox's mailbox that one answer shows. */
const MAX_SHOWN_MAILS = 1_000;

/** The newest mails of the sandbox's mailbox. */
export async function listMailbox(db: Db): Promise<object[]> {
  const { rows } = await db.query<{ mail: object; message_id: string; sent_at: Date }>(
    'select mail, message_id, sent_at from mailbox order by id desc limit $1',
    [MAX_SHOWN_MAILS],
  );
  return rows.map((row) => ({ ...row.mail, message_id: row.message_id, sent_at: row.sent_at.toISOString() }));
}
