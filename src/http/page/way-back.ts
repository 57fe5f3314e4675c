/** Characters of an address that a sign-in leads back to. */
const MAX_RETURN_LENGTH = 1_000;

/** The page that was asked for, as a cookie keeps it during the sign-in. */
export function keepPlace(url: string): string {
  return Buffer.from(url.slice(0, MAX_RETURN_LENGTH)).toString('base64url');
}

/** The page to go on with: one of the pages below `root`, whatever the cookie says. */
export function placeWithin(root: string, encoded: string): string {
  const place = Buffer.from(encoded, 'base64url').toString();
  const rest = place.startsWith(root) ? place.slice(root.length) : undefined;
  const own = rest !== undefined && /^(?:[/?][\x21-\x7e]*)?$/.test(rest);
  return own && !place.includes('\\') && !place.startsWith(`${root}/callback`) ? place : root;
}
