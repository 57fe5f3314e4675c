import type { Context } from '../context.ts';
import type { Institution } from '../settings/institution.ts';
import { printable } from '../values/text.ts';
import { type MailBlock, mailTexts } from './mail-page.ts';
import type { DueMail, WrittenMail } from './outbox.ts';
import { MAILED, type MailedPayment, payeeOf, paymentLines, sumOf } from './payment-lines.ts';
import { MAIL_WORDS } from './texts.ts';

/** Payments that one mail lists. The rest is counted. */
const MAX_LISTED_PAYMENTS = 50;

/**
 * The mail to a person for whom payments wait: those that still do when it is sent.
 * @returns undefined where none waits any longer, or the person is not to be told
 */
export async function writeWaiting(
  { backgroundPool, config, addresses }: Context,
  mail: DueMail,
  institution: Institution,
): Promise<WrittenMail | undefined> {
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
  const words = MAIL_WORDS[language];
  const count = Number(first.total);
  const subject = words.waitingSubject(count, { sum: sumOf(first, language), payee: payeeOf(first) });
  const blocks: MailBlock[] = [
    { text: words.greeting(printable(mail.name)) },
    { text: words.waitingOpening(count) },
    ...rows.flatMap((payment) => paymentLines(payment, language, addresses.api)),
    ...(count > rows.length ? [{ text: words.further(count - rows.length) }] : []),
    { link: `${addresses.api}/app/approvals`, label: words.all },
    { text: words.waitingClosing, muted: true },
  ];
  return { subject, ...mailTexts({ language, title: subject, institution, blocks }) };
}
