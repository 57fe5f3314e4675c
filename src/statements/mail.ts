import { type Attachment, type Mail, messageIdOf } from '../mails/mail.ts';
import { mailTexts } from '../mails/mail-page.ts';
import type { Institution } from '../settings/institution.ts';
import { printable } from '../values/text.ts';
import type { AccountStatement } from './account-statement.ts';

/**
 * The mail of a statement, as text and as HTML. Only its attachments contain balances. Its Message-ID is derived from the request, so that
 * a receiver can recognise a mail that was sent twice (docs/decisions.md, 5).
 * @param options `mailFrom`: LOMBARD_MAIL_FROM; `round`: from 2 on the institution sends it again, as a different mail
 */
export function statementMail(
  statement: AccountStatement,
  to: { name: string; address: string },
  attachments: Attachment[],
  { institution, mailFrom, round }: { institution: Institution; mailFrom: string; round: number },
): Mail {
  const period = `${statement.date_from} to ${statement.date_to}`;
  const client = printable(statement.client.client_name);
  const facts: [string, string][] = [
    ['Client', `${client} (${statement.client.client_id})`],
    ['Period', `${period}, both days included, London time`],
    ['Currencies', statement.sections.map((section) => section.currency).join(', ')],
    ['Request', `${statement.statement_id}, ${statement.created_at}`],
  ];
  const greeting = `Dear ${printable(to.name)},`;
  const opening =
    attachments.length === 1
      ? 'the account statement you requested is attached.'
      : `the account statement you requested is attached, in ${attachments.length} files, one for each currency.`;
  const closing = `If you did not request it, please tell ${institution.name}. Nobody reads replies to this address.`;
  return {
    messageId: messageIdOf(`statement-${statement.statement_id}${round === 1 ? '' : `-${round}`}`, mailFrom),
    to: { name: printable(to.name), address: to.address },
    subject: `Account statement ${period}, ${client}`,
    ...mailTexts({
      language: 'en',
      title: 'Account statement',
      institution,
      blocks: [{ text: greeting }, { text: opening }, { facts }, { text: closing, muted: true }],
    }),
    attachments,
  };
}
