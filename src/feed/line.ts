import type { Change, RecordText } from '../audit/change.ts';

/**
 * The stored form of a change: a line with its entity and clients, which filters check, and then its JSON as readers get it, without the
 * cursor. `payment CLI000001<tab>{"at":...,"data":{...}}`. Neither an identifier nor JSON text contains a tab or a line break.
 */

const SEPARATOR = '\t';
const DATA = ',"data":';

/** What all changes of a transaction share. */
export interface Heading {
  at: Date;
  /** `contact:ID`, `token:NAME`, `staff:NAME` or `system`. */
  actor: string;
  requestId: string;
}

/** A line, and what its row and the reconciliation need to know about it. */
export interface Line {
  /** Its text up to the record. The two texts stay separate, because joining them would copy the record once more. */
  head: string;
  /** The record as JSON. A closing brace ends the line. */
  record: string;
  entity: string;
  /** The client that owns it. For a contact, its clients before and after the change. */
  clients: readonly string[];
  tally: Tally | undefined;
}

/** What the reconciliation counts: `created`, `moved:<status>` or `transaction:<kind>`. */
export interface Tally {
  clientId: string;
  tally: string;
  currency: string;
  /** Decimal string. */
  amount: string;
}

/** Makes a function that writes the lines of one transaction. */
export function createLineWriter({
  at,
  actor,
  requestId,
}: Heading): (change: Change, version: number, record: RecordText) => Line {
  const opening = `{"at":"${at.toISOString()}","entity":"`;
  const ending = `,"actor":${JSON.stringify(actor)},"request_id":${JSON.stringify(requestId)}${DATA}`;
  return (change, version, record) => {
    const { entity, id, clientId, members, action } = change;
    const clients = members ?? (clientId === null ? [] : [clientId]);
    const of = `${entity}","entity_id":${JSON.stringify(id)},"client_id":${JSON.stringify(clientId)}`;
    const what = `,"version":${version},"action":${JSON.stringify(action)}`;
    const head = `${entity} ${clients.join(',')}${SEPARATOR}${opening}${of}${what}${ending}`;
    const data = record.text.includes('\n') ? record.text.replaceAll('\n', ' ') : record.text;
    return { head, record: data, entity, clients, tally: tallied(change, record) };
  };
}

function tallied({ entity, clientId, created, movedTo }: Change, record: RecordText): Tally | undefined {
  const { kind, currency, amount } = record;
  if (clientId === null || currency === undefined || amount === undefined) return undefined;
  const moved = movedTo === undefined ? undefined : `moved:${movedTo}`;
  const tally = kind ? `transaction:${kind}` : entity === 'payment' && created ? 'created' : moved;
  return tally === undefined ? undefined : { clientId, tally, currency, amount };
}

/** The changes that a reader wants; undefined means all clients or all entities. */
export interface Wanted {
  clientId?: string | undefined;
  entities?: readonly string[] | undefined;
}

/** Whether a reader wants the change in a line. */
export function isWanted(line: string, { clientId, entities }: Wanted): boolean {
  if (clientId === undefined && entities === undefined) return true;
  const words = line.slice(0, line.indexOf(SEPARATOR));
  const space = words.indexOf(' ');
  if (entities && !entities.includes(words.slice(0, space))) return false;
  return (
    clientId === undefined ||
    words
      .slice(space + 1)
      .split(',')
      .includes(clientId)
  );
}

/** The change in a line in the form that readers get. */
export function withCursor(line: string, cursor: string): string {
  return `{"cursor":"${cursor}",${line.slice(line.indexOf(SEPARATOR) + 2)}`;
}

/**
 * Replaces the records in a stored row, as an erasure does.
 * @param body the lines of the row
 * @param replace gets the record as JSON text, and its clients
 */
export function mapRecords(
  body: string,
  replace: (record: string, of: { entity: string; id: string }) => string,
): string {
  return body
    .split('\n')
    .map((line) => {
      // Quotes within a text are escaped, so this matches only the field.
      const start = line.indexOf(DATA) + DATA.length;
      const { entity, entity_id: id } = JSON.parse(`${line.slice(line.indexOf(SEPARATOR) + 1, start)}null}`);
      const record = line.slice(start, -1);
      const replaced = replace(record, { entity, id });
      return replaced === record ? line : `${line.slice(0, start)}${replaced}}`;
    })
    .join('\n');
}
