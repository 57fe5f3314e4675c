/** The clients' pages ({base_url}/app) as an application: it always exists, and the institution does not list it. */
export const PAGES_APPLICATION = 'lombard-app';

/** Where the authorization server sends the browser back to. @param apiUrl {base_url} */
export function pagesCallback(apiUrl: string): string {
  return `${apiUrl}/app/callback`;
}
