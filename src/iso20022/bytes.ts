/** The longest prolog in characters: comments before the message. A DTD can only be there. */
const MAX_PROLOG = 65_536;

/**
 * Checks whether bytes may be given to the XML parser. They may not if they are not UTF-8, claim to be something else, or begin with a DTD.
 * Without a DTD a document has only the five entities of XML, so nothing in it can expand, and nothing outside it is read.
 * @returns what is wrong, or undefined
 */
export function faultOfBytes(bytes: Uint8Array): string | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return 'the file must be UTF-8';
  }
  // XML has no NUL characters, and UTF-16 has one in every second byte.
  if (text.includes('\0')) return 'the file must be UTF-8, without NUL characters';
  return faultOfProlog(text.slice(0, MAX_PROLOG));
}

const DECLARATION = /^<\?xml[ \t\r\n][^>]*?\?>/;
const ENCODING = /[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*(?:"([^"]*)"|'([^']*)')/;

function faultOfProlog(text: string): string | undefined {
  const [declaration = ''] = DECLARATION.exec(text) ?? [];
  const [, double, single] = ENCODING.exec(declaration) ?? [];
  if ((double ?? single ?? 'utf-8').toLowerCase() !== 'utf-8') return 'the file must say that its encoding is UTF-8';
  for (let at = declaration.length; ; ) {
    while (' \t\r\n'.includes(text[at] ?? '-')) at += 1;
    const end = text.startsWith('<!--', at) ? '-->' : text.startsWith('<?', at) ? '?>' : undefined;
    if (end === undefined) return text.startsWith('<!', at) ? 'the file must not have a DTD' : undefined;
    const found = text.indexOf(end, at + 2);
    if (found < 0) return `the message must begin within the first ${MAX_PROLOG} characters of the file`;
    at = found + end.length;
  }
}
