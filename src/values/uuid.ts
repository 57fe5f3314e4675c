const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID in its usual spelling (RFC 9562, section 4), of any version. PostgreSQL refuses other texts for a `uuid`. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
