import type { FastifyRequest } from 'fastify';
import { Problem } from '../../errors.ts';

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
