import type { FastifyRequest } from 'fastify';
import { Problem } from '../../values/errors.ts';
import { isLoopback } from '../../values/loopback.ts';

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

/**
 * Where to redirect a browser that opened a page under another name of this machine. `localhost` and `127.0.0.1` are different origins, so
 * the page's form could not be sent, and its cookie would not come back. It applies only to names of this machine with the same port. A
 * proxy that passes another host name to the service is left alone.
 * @param address the public address of the pages
 * @returns undefined if the browser used the right name
 */
export function ownAddress(address: string, { headers, url }: FastifyRequest): string | undefined {
  const own = new URL(address);
  const opened = `${own.protocol}//${headers.host ?? ''}`;
  if (!URL.canParse(opened)) return undefined;
  const { hostname, port } = new URL(opened);
  const isElsewhere = hostname !== own.hostname && port === own.port;
  return isElsewhere && isLoopback(hostname) && isLoopback(own.hostname) ? address + url : undefined;
}

/**
 * Refuses a call of a page that shows somebody other than the person who is signed in now, because another tab has signed in as that
 * person. The page sends the `person` of its session as `X-Lombard-Person`.
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
 * Like `requireOwnOrigin`. A change also needs the header `X-Lombard-Page: 1`, which no form can send and no other origin may send.
 * @throws Problem permission_denied
 */
export function requireOwnPage(address: string, request: FastifyRequest): void {
  requireOwnOrigin(address, request);
  const { method, headers } = request;
  if (method !== 'GET' && method !== 'HEAD' && headers['x-lombard-page'] !== '1')
    throw new Problem('permission_denied', 'header.X-Lombard-Page: must be 1 where something is changed');
}
