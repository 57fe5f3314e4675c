import type { Found } from '../../../src/http/console/search.ts';

/** Where a search result leads: its own page, or the list that shows it. */
export function findAddress({ kind, id }: Pick<Found, 'kind' | 'id'>): { to: string; search?: Record<string, string> } {
  if (kind === 'request') return { to: '/requests', search: { request_id: id } };
  if (kind === 'notification') return { to: '/notifications', search: { id } };
  return { to: `/${kind}s/${encodeURIComponent(id)}` };
}
