/** Reads the parts of a pain.002 that a program needs, without an XML parser: the service writes no prefixes and no attributes. */

/** The text of the first element with a name. */
function firstText(xml: string, name: string): string | undefined {
  const [open, close] = [`<${name}>`, `</${name}>`];
  const from = xml.indexOf(open);
  const to = from < 0 ? -1 : xml.indexOf(close, from);
  return to < 0 ? undefined : xml.slice(from + open.length, to);
}

/** Whether the message rejects the whole file. */
export function isRejected(pain002: string): boolean {
  return firstText(pain002, 'GrpSts') === 'RJCT';
}

/** Its first reason: an ISO 20022 code, and the service's explanation. The code is `NARR` if there is none. */
export function reasonOf(pain002: string): { code: string; message: string } {
  const code = firstText(pain002, 'Cd') ?? 'NARR';
  return { code, message: firstText(pain002, 'AddtlInf') ?? code };
}
