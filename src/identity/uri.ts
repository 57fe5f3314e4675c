/** The characters of an address (RFC 3986, 2). Other characters must be percent-encoded, or in punycode within a host name. */
const CHARACTERS = /^[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/;

/** @returns the address; undefined unless the text is an absolute address */
export function parseUri(text: string): URL | undefined {
  return CHARACTERS.test(text) && URL.canParse(text) ? new URL(text) : undefined;
}
