import type { Context } from '../context.ts';
import { first } from '../database/database.ts';
import { createPasswordLink, LINK_LIFETIME_SECONDS } from '../identity/sign-in/password-link.ts';
import type { Institution } from '../settings/institution.ts';
import { printable } from '../values/text.ts';
import { type MailBlock, mailTexts } from './mail-page.ts';
import type { DueMail, WrittenMail } from './outbox.ts';
import { MAILED, type MailedPayment, payeeOf, paymentLines, sumOf } from './payment-lines.ts';
import { MAIL_WORDS, type MailWords } from './texts.ts';

/** The most payments that one mail lists. The rest is counted. */
const MAX_LISTED_PAYMENTS = 50;

/** The part of a mail after the greeting. */
interface Content {
  subject: string;
  blocks: MailBlock[];
}

/** Writes a mail. @returns undefined if there is nothing left to tell */
type Writer = (context: Context, mail: DueMail, words: MailWords) => Promise<Content | undefined>;

/** To a person for whom payments wait: lists those that still wait when it is sent. */
const writeWaiting: Writer = async ({ backgroundPool, config, addresses }, mail, words) => {
  if (!config.approvalMails || !mail.approval_mails) return undefined;
  const { rows } = await backgroundPool.query<MailedPayment & { total: number }>(
    `select ${MAILED}, count(*) over () as total
     from payment_notices n
     join payment_approvers a on a.client_id = n.client_id and a.payment_id = n.payment_id and a.contact_id = n.contact_id and a.may_authorise
     join payments p on p.client_id = n.client_id and p.id = n.payment_id
     join clients c on c.client_id = n.client_id and c.status = 'enabled'
     where n.mail_id = $1 order by n.id limit ${MAX_LISTED_PAYMENTS}`,
    [mail.id],
  );
  const [first] = rows;
  if (!first) return undefined;
  const { language } = mail;
  const count = Number(first.total);
  return {
    subject: words.waitingSubject(count, { sum: sumOf(first, language), payee: payeeOf(first) }),
    blocks: [
      { text: words.waitingOpening(count) },
      ...rows.flatMap((payment) => paymentLines(payment, language, addresses.api)),
      ...(count > rows.length ? [{ text: words.further(count - rows.length) }] : []),
      { link: `${addresses.api}/app/approvals`, label: words.all },
      { text: words.waitingClosing, muted: true },
    ],
  };
};

/** To the creator of a payment that was rejected. */
const writeRejection: Writer = async ({ backgroundPool, config, addresses }, mail, words) => {
  if (!config.approvalMails || !mail.approval_mails) return undefined;
  const payment = first(
    await backgroundPool.query<MailedPayment & { reason: string | null; rejected_by: string | null }>(
      `select ${MAILED}, p.reason, coalesce(k.name, p.rejected_by) as rejected_by
       from payments p
       join clients c on c.client_id = p.client_id and c.status = 'enabled'
       join contact_clients m on m.client_id = p.client_id and m.contact_id = p.contact_id
       left join contacts k on k.contact_id = p.rejected_by
       where p.client_id = $1 and p.id = $2`,
      [mail.client_id, mail.payment_id],
    ),
  );
  if (!payment) return undefined;
  return {
    subject: words.rejectedSubject({ sum: sumOf(payment, mail.language), payee: payeeOf(payment) }),
    blocks: [
      { text: words.rejectedOpening(printable(payment.rejected_by ?? '')) },
      { facts: [[words.reason, payment.reason === null ? words.noReason : printable(payment.reason)]] },
      ...paymentLines(payment, mail.language, addresses.api),
      { text: words.closing, muted: true },
    ],
  };
};

/** With the link for a new password. Each attempt makes a new link, because only hashes of links are stored. */
const writeLink =
  (kind: keyof typeof LINK_LIFETIME_SECONDS): Writer =>
  async ({ backgroundPool, clock, addresses }, mail, words) => {
    const now = clock.now();
    const age = now.getTime() - mail.created_at.getTime();
    if (!mail.enabled || age > LINK_LIFETIME_SECONDS[kind] * 1_000) return undefined;
    const token = await createPasswordLink(backgroundPool, { ...mail, kind }, now);
    if (token === undefined) return undefined;
    const { subject, opening, link, validity, closing } = words[kind];
    return {
      subject,
      blocks: [
        { text: opening },
        { link: `${addresses.auth}/new-password?token=${token}&ui_locales=${mail.language}`, label: link },
        { text: validity },
        ...(kind === 'invitation' ? [{ link: `${addresses.api}/app`, label: words.signInAt }] : []),
        { text: closing, muted: true as const },
      ],
    };
  };

const WRITERS: Record<DueMail['kind'], Writer> = {
  waiting: writeWaiting,
  rejection: writeRejection,
  password: writeLink('password'),
  invitation: writeLink('invitation'),
};

/** Writes a mail in its reader's language. @returns undefined if there is nothing left to tell */
export async function writeMail(
  context: Context,
  mail: DueMail,
  institution: Institution,
): Promise<WrittenMail | undefined> {
  const { language } = mail;
  const words = MAIL_WORDS[language];
  const content = await WRITERS[mail.kind](context, mail, words);
  if (!content) return undefined;
  const { subject, blocks } = content;
  const greeting = { text: words.greeting(printable(mail.name)) };
  return { subject, ...mailTexts({ language, title: subject, institution, blocks: [greeting, ...blocks] }) };
}
