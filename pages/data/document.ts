/** A value that the service wrote into the page itself, as a `meta` element with the prefix `lombard:`. */
function known(name: string): string | undefined {
  return document.querySelector<HTMLMetaElement>(`meta[name="lombard:${name}"]`)?.content;
}

/** The name and logo of the institution. */
export const institution = { name: known('institution') ?? '', logo: known('logo') };

export const isSandbox = known('environment') === 'sandbox';
