/** What a program has to know of a pain.002 without an XML parser: the service writes its elements without prefixes and attributes. */

/** The text of the first element with a name. */
function firstText(xml: string, name: string): string | undefined {
  const [open, close] = [`<${name}>`, `</${name}>`];
  const from = xml.indexOf(open);
  const to = from < 0 ? -1 : xml.indexOf(close, from);
  return to < 0 ? undefined : xml.slice(from + open.length, to);
}

/** Whether the message says that nothing of the file is done. */
export function isRejected(pain002: string): boolean {
  return firstText(pain002, 'GrpSts') === 'RJCT';
}

/** Its first reason: a code of ISO 20022, and what the service says of it. `NARR` where it has none. */
export function reasonOf(pain002: string): { code: string; message: string } {
  const code = firstText(pain002, 'Cd') ?? 'NARR';
  return { code, message: firstText(pain002, 'AddtlInf') ?? code };
}
