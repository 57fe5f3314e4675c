import type { Config } from '../../settings/config.ts';
import { namesOfMachine } from '../../values/loopback.ts';

/** The clients' pages ({base_url}/app) as an application. It always exists. */
export const PAGES_APPLICATION = 'lombard-app';

/** The API reference ({base_url}/docs) as an application. It always exists, and signs in only in a sandbox. */
export const REFERENCE_APPLICATION = 'lombard-docs';

/** The applications of the service's own pages. The institution's list does not show them. */
export const OWN_APPLICATIONS = [PAGES_APPLICATION, REFERENCE_APPLICATION];

/** The address to which the authorization server sends the browser back. @param apiUrl {base_url} */
export function pagesCallback(apiUrl: string): string {
  return `${apiUrl}/app/callback`;
}

/**
 * The redirect addresses of one of the service's own applications. No record has them, because they follow the service's address.
 * @param apiUrl {base_url}
 * @returns undefined for every other application
 */
export function ownRedirects(
  id: string,
  { apiUrl, environment }: { apiUrl: string; environment: Config['environment'] },
): string[] | undefined {
  if (id === PAGES_APPLICATION) return [pagesCallback(apiUrl)];
  if (id !== REFERENCE_APPLICATION) return undefined;
  // The page that swagger-ui opens. It works at each name of this machine.
  if (environment === 'sandbox') return namesOfMachine(apiUrl).map((url) => `${url}/docs/static/oauth2-redirect.html`);
  return [];
}
