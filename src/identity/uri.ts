/** The characters of an address (RFC 3986, 2). Others are percent-encoded, and in punycode within the name of a host. */
const CHARACTERS = /^[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/;

/** @returns the address; undefined unless the text is an absolute one */
export function parseUri(text: string): URL | undefined {
  return CHARACTERS.test(text) && URL.canParse(text) ? new URL(text) : undefined;
}
