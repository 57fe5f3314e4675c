import type { Db, Pool } from '../database/database.ts';
import { type List, type ListRequest, listRows } from '../database/rows.ts';
import type { Logger } from '../process/log.ts';
import type { Clock } from '../values/calendar.ts';
import { clearJournal, Journal } from './journal.ts';

/** Days that a refused request is kept (docs/operator-interface.md, Find out what happened). */
const KEPT_DAYS = 7;
const DAY_MS = 86_400_000;
const TABLE = 'refused_requests';
const COLUMNS =
  'at, listener, method, route, status, code, details, client_id, contact_id, application, request_id, ms';
/** The most characters of the details that are kept. */
const MAX_DETAILS_LENGTH = 2_000;

/** A request that was answered with 4xx or 5xx, without bodies and tokens. */
export interface RefusedRequest {
  listener: string;
  /** Null if the request was refused before it could be read. */
  method: string | null;
  /** The address with the names of its parameters; null if no route has it. */
  route: string | null;
  status: number;
  code: string | null;
  details: string | null;
  client_id: string | null;
  contact_id: string | null;
  /** The application; on the operator interface the name of the token. */
  application: string | null;
  request_id: string;
  /** Milliseconds until the answer; null if the request was refused before it could be read. */
  ms: number | null;
}

/** What is known about a request that could not be read. */
export type UnreadRequest = Pick<RefusedRequest, 'listener' | 'status' | 'code' | 'details' | 'request_id'>;

/** The journal of refused requests, of all listeners of this process. */
export class RefusedRequests extends Journal<RefusedRequest> {
  constructor(pool: Pool, clock: Clock, log: Logger) {
    const insert = `insert into ${TABLE} (${COLUMNS}) select ${COLUMNS} from json_populate_recordset(null::${TABLE}, $1)`;
    super({ table: TABLE, insert, pool, clock, log });
  }

  override note(request: RefusedRequest): void {
    super.note({ ...request, details: request.details?.slice(0, MAX_DETAILS_LENGTH) ?? null });
  }

  /** Records a request that was refused before it could be read. */
  noteUnread(request: UnreadRequest): void {
    const unknown = { method: null, route: null, client_id: null, contact_id: null, application: null, ms: null };
    this.note({ ...unknown, ...request });
  }
}

export interface RefusedRequestFilter extends ListRequest {
  requestId?: string | undefined;
  contactId?: string | undefined;
  /** A status such as `404`, or a class such as `4xx`. */
  status?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

/** A page of the refused requests, the newest first. */
export function listRefusedRequests(
  db: Db,
  { requestId, contactId, status, from, to, ...page }: RefusedRequestFilter,
): Promise<List<RefusedRequest & { at: Date }>> {
  return listRows(
    db,
    {
      select: COLUMNS,
      from: TABLE,
      client: 'client_id',
      order: 'at desc, id desc',
      filters: [
        ['request_id = ?', requestId],
        ['contact_id = ?', contactId],
        ['status >= ?', status && Number(status.replace('xx', '00'))],
        ['status <= ?', status && Number(status.replace('xx', '99'))],
        ['at >= ?', from],
        ['at < ?', to],
      ],
    },
    page,
  );
}

/** Deletes expired entries. */
export function clearRefusedRequests(db: Db, now: Date): Promise<void> {
  return clearJournal(db, TABLE, new Date(now.getTime() - KEPT_DAYS * DAY_MS));
}
