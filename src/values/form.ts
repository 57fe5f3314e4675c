/** Replaces bytes that are not UTF-8 with a lone surrogate, similar to Python's PEP 383. text.ts refuses it. */
const NOT_UTF8 = '\udcff';

/**
 * Reads the names and values of a query or a form (application/x-www-form-urlencoded) in their order. It reads them as URLSearchParams
 * does, except that bytes that are not UTF-8 do not silently become U+FFFD.
 */
export function* readForm(encoded: string): Generator<[name: string, value: string]> {
  for (const pair of encoded.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const [name, value] = equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
    yield [decode(name), decode(value)];
  }
}

function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  try {
    // A percent sign that is not followed by two hexadecimal digits is literal.
    return decodeURIComponent(spaced.replace(/%(?![0-9a-f]{2})/gi, '%25'));
  } catch {
    return NOT_UTF8;
  }
}
