import type { FastifyRequest } from 'fastify';
import { Problem } from '../../values/errors.ts';

/**
 * Refuses a call that another site's page makes with the browser's cookie.
 * @param address the public address of the pages
 * @throws Problem permission_denied
 */
export function requireOwnOrigin(address: string, { headers }: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin !== undefined && origin !== new URL(address).origin)
    throw new Problem('permission_denied', 'header.Origin: is not the origin of the pages');
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw new Problem('permission_denied', 'header.Sec-Fetch-Site: the pages call from their own origin only');
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Where a browser goes that opened a page at another name of this machine: `localhost` and `127.0.0.1` are two origins, so that the page's
 * form could not be sent, and its cookie would not come back. Only between names of this machine, with the same port: a proxy that names
 * another host to the service is left alone.
 * @param address the public address of the pages
 * @returns undefined where it came by the right name
 */
export function ownAddress(address: string, { headers, url }: FastifyRequest): string | undefined {
  const own = new URL(address);
  const opened = `${own.protocol}//${headers.host ?? ''}`;
  if (!URL.canParse(opened)) return undefined;
  const { hostname, port } = new URL(opened);
  const isElsewhere = hostname !== own.hostname && port === own.port;
  return isElsewhere && LOOPBACK.has(hostname) && LOOPBACK.has(own.hostname) ? address + url : undefined;
}

/**
 * Refuses a call of a page that shows somebody else than the person who is signed in now: another tab has signed in as that person. The
 * page sends the `person` of its session as `X-Lombard-Person`.
 * @throws Problem authentication_failed
 */
export function requireSamePerson(person: string, { headers }: FastifyRequest): void {
  const shown = headers['x-lombard-person'];
  if (shown !== undefined && shown !== person)
    throw new Problem(
      'authentication_failed',
      'header.X-Lombard-Person: somebody else has signed in in this browser since',
    );
}

/**
 * As `requireOwnOrigin`. A change needs the header `X-Lombard-Page: 1` as well, which no form can send and no other origin may.
 * @throws Problem permission_denied
 */
export function requireOwnPage(address: string, request: FastifyRequest): void {
  requireOwnOrigin(address, request);
  const { method, headers } = request;
  if (method !== 'GET' && method !== 'HEAD' && headers['x-lombard-page'] !== '1')
    throw new Problem('permission_denied', 'header.X-Lombard-Page: must be 1 where something is changed');
}
