import type { Institution } from '../documents/institution.ts';
import { type Attachment, type Mail, messageIdOf } from '../mail.ts';
import { printable } from '../printable.ts';
import type { AccountStatement } from './account-statement.ts';

/**
 * The mail of a statement, as text and as HTML. Only its attachments contain balances. Its Message-ID is derived from the request, so
 * that a receiver can recognise a mail that was sent twice (docs/decisions.md, 5).
 * @param options `mailFrom`: LOMBARD_MAIL_FROM
 */
export function statementMail(
  statement: AccountStatement,
  to: { name: string; address: string },
  attachments: Attachment[],
  { institution, mailFrom }: { institution: Institution; mailFrom: string },
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
  const text = [
    greeting,
    '',
    opening,
    '',
    ...facts.map(([name, value]) => `${`${name}:`.padEnd(12)}${value}`),
    '',
    closing,
    '',
    institution.name,
    ...institution.address,
    '',
  ].join('\n');
  return {
    messageId: messageIdOf(`statement-${statement.statement_id}`, mailFrom),
    to: { name: printable(to.name), address: to.address },
    subject: `Account statement ${period}, ${client}`,
    text,
    html: page({ greeting, opening, facts, closing }, institution),
    attachments,
  };
}

interface MailText {
  greeting: string;
  opening: string;
  facts: [name: string, value: string][];
  closing: string;
}

function page({ greeting, opening, facts, closing }: MailText, institution: Institution): string {
  const head = 'text-align:left;font-weight:normal;color:#555;padding:2px 16px 2px 0;vertical-align:top';
  const row = ([name, value]: [string, string]) =>
    `<tr><th style="${head}">${escaped(name)}</th><td style="padding:2px 0">${escaped(value)}</td></tr>`;
  const rule = `border-bottom:3px solid ${institution.colour};font-weight:bold;color:${institution.colour}`;
  return `<!doctype html>
<html lang="en-GB"><head><meta charset="utf-8"><title>Account statement</title></head>
<body style="margin:0;padding:24px;font:15px/1.5 Arial,Helvetica,sans-serif;color:#1a1a1a;background:#fff">
<div style="max-width:560px">
<p style="margin:0 0 24px;padding:0 0 8px;${rule}">${escaped(institution.name)}</p>
<p>${escaped(greeting)}</p>
<p>${escaped(opening)}</p>
<table role="presentation" style="border-collapse:collapse;margin:16px 0">${facts.map(row).join('')}</table>
<p style="color:#555">${escaped(closing)}</p>
<p style="color:#555;font-size:13px">${[institution.name, ...institution.address].map(escaped).join('<br>')}</p>
</div></body></html>
`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escaped(value: string): string {
  return value.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
