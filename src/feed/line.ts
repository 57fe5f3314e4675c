import type { Change, RecordText } from '../audit/change.ts';

/**
 * How a change is stored: a line with its entity and clients, which filters look at, then its JSON as readers get it, without the
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

/** A line, and what its row and the reconciliation need to know of it. */
export interface Line {
  /** Its text up to the record. Two texts, because joining them would copy the record once more. */
  head: string;
  /** The record as JSON. A closing brace ends the line. */
  record: string;
  entity: string;
  /** Whose it is; of a contact, the clients before and after the change. */
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

/** Makes the writer of the lines of one transaction. */
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

/** Which changes a reader wants; undefined: of all clients, of all entities. */
export interface Wanted {
  clientId?: string | undefined;
  entities?: readonly string[] | undefined;
}

/** Whether a reader wants the change of a line. */
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

/** The change of a line as readers get it. */
export function withCursor(line: string, cursor: string): string {
  return `{"cursor":"${cursor}",${line.slice(line.indexOf(SEPARATOR) + 2)}`;
}

/**
 * Replaces the records in a stored row, as an erasure does.
 * @param body the lines of the row
 * @param replace gets the record as JSON text, and whose it is
 */
export function mapRecords(
  body: string,
  replace: (record: string, of: { entity: string; id: string }) => string,
): string {
  return body
    .split('\n')
    .map((line) => {
      // Quotes within a text are escaped, so that this is the field.
      const start = line.indexOf(DATA) + DATA.length;
      const { entity, entity_id: id } = JSON.parse(`${line.slice(line.indexOf(SEPARATOR) + 1, start)}null}`);
      const record = line.slice(start, -1);
      const replaced = replace(record, { entity, id });
      return replaced === record ? line : `${line.slice(0, start)}${replaced}}`;
    })
    .join('\n');
}
