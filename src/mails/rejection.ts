import type { Context } from '../context.ts';
import { first } from '../database/database.ts';
import type { Institution } from '../settings/institution.ts';
import { printable } from '../values/text.ts';
import { type MailBlock, mailTexts } from './mail-page.ts';
import type { DueMail, WrittenMail } from './outbox.ts';
import { MAILED, type MailedPayment, payeeOf, paymentLines, sumOf } from './payment-lines.ts';
import { MAIL_WORDS } from './texts.ts';

/** The mail to the creator of a payment that was rejected. @returns undefined where the person is not to be told */
export async function writeRejection(
  { backgroundPool, config, addresses }: Context,
  mail: DueMail,
  institution: Institution,
): Promise<WrittenMail | undefined> {
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
  const { language } = mail;
  const words = MAIL_WORDS[language];
  const subject = words.rejectedSubject({ sum: sumOf(payment, language), payee: payeeOf(payment) });
  const blocks: MailBlock[] = [
    { text: words.greeting(printable(mail.name)) },
    { text: words.rejectedOpening(printable(payment.rejected_by ?? '')) },
    { facts: [[words.reason, payment.reason === null ? words.noReason : printable(payment.reason)]] },
    ...paymentLines(payment, language, addresses.api),
    { text: words.closing, muted: true },
  ];
  return { subject, ...mailTexts({ language, title: subject, institution, blocks }) };
}
