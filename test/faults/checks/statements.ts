import assert from 'node:assert/strict';
import { parse } from 'csv-parse/sync';
import type { Round } from './round.ts';

interface KeptMail {
  attachments: { content: string }[];
}

/** Each statement that was asked for was sent once for each time that it was asked for, and its figures are those of the account. */
export async function statementsSent({ system, known }: Round): Promise<void> {
  const { rows } = await system.query(
    `select r.statement_id as id, r.format, d.status, d.round, s.last_transaction,
       (select coalesce(sum(amount), 0)::text from transactions t
         where t.currency_account_id = s.currency_account_id and t.id <= s.last_transaction) as closing,
       (select count(*)::int from audit a where a.entity = 'statement' and a.entity_id = r.statement_id::text and a.action = 'create') as asked,
       (select json_agg(m.mail order by m.id) from mailbox m where m.message_id like '%' || r.statement_id || '%') as mails
     from statement_requests r join statement_deliveries d using (statement_id) join statement_sections s using (statement_id)`,
  );
  const there = new Set(rows.map(({ id }) => id));
  const faults = known.statements.filter((id) => !there.has(id)).map((id) => `${id} was answered and is not there`);
  for (const { id, format, status, round, closing, asked, mails } of rows) {
    if (status !== 'sent') faults.push(`${id} is ${status}`);
    if (asked !== 1) faults.push(`${id} was asked for ${asked} times`);
    // An attempt that is repeated has the same Message-ID, and the mailbox keeps one mail of each.
    if (mails?.length !== round) faults.push(`${id} was sent ${mails?.length ?? 0} times instead of ${round}`);
    if (format === 'csv') for (const mail of mails ?? []) faults.push(...csvFaults(id, mail, closing));
  }
  assert.deepEqual(faults, []);
}

/** The lines of a statement follow each other up to the balance of the account when it was asked for. */
function csvFaults(id: string, { attachments: [file] }: KeptMail, closing: string): string[] {
  const lines: Record<string, string>[] = parse(Buffer.from(file?.content ?? '', 'base64'), {
    columns: true,
    bom: true,
  });
  const last = Number(lines.at(-1)?.balance);
  return Math.abs(last - Number(closing)) < 0.005 ? [] : [`${id} closes with ${last} instead of ${closing}`];
}
