import type { Db } from '../../database/database.ts';

/** The names of contacts. They exist once, while the records that name them may be in a cell on another server. */
export async function contactNames(db: Db, contactIds: readonly string[]): Promise<Map<string, string>> {
  if (contactIds.length === 0) return new Map();
  const { rows } = await db.query<{ contact_id: string; name: string }>({
    name: 'contact-names',
    text: 'select contact_id, name from contacts where contact_id = any($1)',
    values: [contactIds],
  });
  return new Map(rows.map(({ contact_id: id, name }) => [id, name]));
}
