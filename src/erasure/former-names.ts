import type { Db } from '../database/database.ts';
import { mapRecords } from '../feed/line.ts';
import { ERASED, erasedEmail, type Person } from './person.ts';

/** The number of rows of the change feed that are read at once. Each holds at most hundreds of records. */
const FEED_ROWS = 40;

/** The name, the address and the number in a record. */
type Known = Partial<Record<'name' | 'email' | 'phone', unknown>>;

/** A person with what records say about it. An erased name does not count. */
export function withKnown(person: Person, records: readonly Known[]): Person {
  const { contactId } = person;
  const texts = (known: string[], field: keyof Known) =>
    [...new Set([...known, ...records.map((record) => record[field])])]
      .filter((text) => typeof text === 'string')
      .filter((text) => ![ERASED, erasedEmail(contactId), ''].includes(text));
  const { names, emails, phones } = person;
  return { contactId, names: texts(names, 'name'), emails: texts(emails, 'email'), phones: texts(phones, 'phone') };
}

/**
 * A person with the names in the copies of a cell. The trail may have dropped a former name (retention) that a payment or the change feed
 * still has.
 */
export async function withCopies(db: Db, person: Person): Promise<Person> {
  const { contactId } = person;
  const { rows } = await db.query<Known>(
    `select distinct ordered_by_name as name, null as email from payments where contact_id = $1
     union select a.value->>'contact_name', null from payment_approvals p, json_array_elements(p.authorisations) a
       where p.authorisations::text like '%' || $1 || '%' and a.value->>'contact_id' = $1
     union select contact_name, email from statement_requests where contact_id = $1`,
    [contactId],
  );
  return withKnown(person, [...rows, ...(await inFeed(db, contactId))]);
}

async function inFeed(db: Db, contactId: string): Promise<Known[]> {
  const known: Known[] = [];
  for (let last: unknown[] = [-1, -1]; ; ) {
    const { rows } = await db.query<{ batch: number; place: number; body: string }>(
      `select batch, place, body from changes where 'contact' = any(entities) and strpos(body, $1) > 0
         and (batch, place) > ($2, $3) order by batch, place limit ${FEED_ROWS}`,
      [JSON.stringify(contactId), ...last],
    );
    for (const { body } of rows)
      mapRecords(body, (record, { entity, id }) => {
        if (entity === 'contact' && id === contactId) known.push(JSON.parse(record));
        return record;
      });
    const end = rows.at(-1);
    if (!end || rows.length < FEED_ROWS) return known;
    last = [end.batch, end.place];
  }
}
