/** What the service wrote into the page before any call: `meta` elements with the prefix `lombard:`. */
function known(name: string): string | undefined {
  return document.querySelector<HTMLMetaElement>(`meta[name="lombard:${name}"]`)?.content;
}

/** The institution as its pages show it. */
export const institution = { name: known('institution') ?? '', logo: known('logo') };

export const isSandbox = known('environment') === 'sandbox';
