import type { Addresses } from '../../context.ts';

/** The readers of a listener's pages. Each listener serves all pages, with those for its readers first. */
export interface Audience {
  /** The row of the README's table whose pages come first. */
  first: string;
  /** What the listener's API reference describes. */
  api: string;
  /** The address that precedes each page's path in llms.txt. */
  address(addresses: Addresses): string;
  /** Further addresses of the listener, besides the pages and the API reference. */
  links: { title: string; path: string }[];
  /** Whether the description is also served as a collection of requests. */
  collection: boolean;
}

/** The developers of clients. */
export const INTEGRATORS: Audience = {
  first: 'integrate a program',
  api: 'the client API',
  address: ({ api }) => api,
  links: [{ title: 'GraphQL', path: '/' }],
  collection: true,
};

/** The people who run the service, or connect a core system to it. */
export const INSTITUTION: Audience = {
  first: 'run it for an institution',
  api: 'the operator interface',
  // This listener has no public address, so its links are relative.
  address: () => '',
  links: [],
  collection: false,
};

/** The script that puts links to the pages, and their search, above the API reference at /docs. */
export function referenceScript({ links }: Audience): string {
  const further = links.map(({ title, path }) => ` <a href="${path}">${title}</a>`).join('');
  return `
const header = document.createElement('header');
header.innerHTML = '<a href="/docs/readme">Documentation</a>${further}' +
  '<form action="/docs/readme" role="search"><input type="search" name="q" placeholder="Search the documentation"></form>';
header.style = 'display: flex; gap: 1.5rem; align-items: center; padding: .6rem 1.2rem; font: 1rem system-ui, sans-serif';
document.body.prepend(header);
`;
}
