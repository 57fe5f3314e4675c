import { setTimeout as pause } from 'node:timers/promises';
import { InvalidArgumentError } from 'commander';
import type { ResponseOf } from '../../sdk/src/index.ts';
import { INTERRUPTED, interruption, isOutage } from './failure.ts';
import { type Call, example, type Frame } from './frame.ts';
import type { Column } from './printer.ts';
import { openSession, type Session } from './session.ts';

/** Milliseconds between two checks of the log. */
const LOOK_EVERY_MS = 500;
/** The most entries that the log keeps, and the number that is read at once. */
const MAX_LOG_ROWS = 1_000;
const PAGE_ROWS = 50;

/** A request in the sandbox's log. */
type LoggedRequest = ResponseOf<'GET /sandbox/requests'>[number];

const COLUMNS: Column<LoggedRequest>[] = [
  ['AT', ({ at }) => at],
  ['STATUS', ({ status }) => status],
  ['MS', ({ ms }) => ms],
  ['REQUEST', ({ method, path }) => `${method} ${path}`],
  ['CODE', ({ code }) => code],
  ['DETAILS', detailsOf],
];

/** `lombard logs`. */
export function logsCommand(frame: Frame): void {
  const logs = frame.program
    .command('logs')
    .description("show the client's last requests to the sandbox, newest first")
    .option('--follow', 'keep running, and print each request once it has been answered')
    .option('--status <status>', 'of one status, as 404, or class, as 4xx', (value) => {
      if (!/^[1-5](\d\d|xx)$/.test(value)) throw new InvalidArgumentError('must be a status as 404, or a class as 4xx');
      return value;
    });
  frame.asContact(example(logs, 'logs --status 4xx', 'logs --follow'), async (call) => {
    if (call.options.follow) return followLog(call);
    call.print.rows(await read(call), COLUMNS);
    return 0;
  });
}

async function read({ options, session }: Call & { session: Session }, page?: number): Promise<LoggedRequest[]> {
  const query = {
    ...(options.status === undefined ? {} : { status: String(options.status) }),
    ...(page === undefined ? {} : { page, page_size: PAGE_ROWS }),
  };
  return (await session.lombard.call('GET /sandbox/requests', { query })).body;
}

/**
 * Prints new entries, oldest first, until it is interrupted. It waits for a service that restarts. The service may then listen at another
 * address, and the tokens may have expired, so the session is opened again.
 */
async function followLog({ session, ...call }: Call & { session: Session }): Promise<number> {
  const { print, globals } = call;
  const interrupted = interruption();
  let current = session;
  const printed = new Set((await read({ ...call, session }, 1)).map(key));
  print.note('following; Ctrl-C ends it');
  let lost = false;
  while (!interrupted.aborted) {
    await pause(LOOK_EVERY_MS, undefined, { signal: interrupted }).catch(() => {});
    if (interrupted.aborted) break;
    try {
      if (lost) current = await openSession(globals);
      for (const one of (await unprinted({ ...call, session: current }, printed)).reverse()) {
        print.entry(line(one), one);
        printed.add(key(one));
      }
      for (const former of [...printed].slice(0, -MAX_LOG_ROWS)) printed.delete(former);
      if (lost) process.stderr.write('lombard: the service is back\n');
      lost = false;
    } catch (error) {
      if (!isOutage(error)) throw error;
      if (!lost) process.stderr.write('lombard: the service does not answer; it is asked again\n');
      lost = true;
    }
  }
  return INTERRUPTED;
}

/** The requests that were not printed yet, newest first. It reads pages until one contains a request that was. */
async function unprinted(call: Call & { session: Session }, printed: Set<string>): Promise<LoggedRequest[]> {
  const found: LoggedRequest[] = [];
  for (let page = 1; page <= MAX_LOG_ROWS / PAGE_ROWS; page += 1) {
    const rows = await read(call, page);
    found.push(...rows.filter((one) => !printed.has(key(one))));
    if (rows.length < PAGE_ROWS || rows.some((one) => printed.has(key(one)))) break;
  }
  // A request that arrived between two pages has moved another one to the next page.
  return [...new Map(found.map((one) => [key(one), one])).values()];
}

function key({ at, request_id: id }: LoggedRequest): string {
  return `${at} ${id}`;
}

/** What was wrong with a request, even if it was answered successfully. */
function detailsOf({ details, ignored_parameters: ignored }: LoggedRequest): string | null {
  const told = [details, ignored.length > 0 && `ignored: ${ignored.join(', ')}`].filter(Boolean);
  return told.length > 0 ? told.join('; ') : null;
}

function line(request: LoggedRequest): string {
  const { at, status, ms, method, path, code } = request;
  const told = [code, detailsOf(request)].filter((text) => text !== null).join(': ');
  const why = told === '' ? '' : `  ${told}`;
  return `${at}  ${status}  ${method} ${path}  ${ms} ms${why}`.replace(/\p{Cc}/gu, ' ');
}
