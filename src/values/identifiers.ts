/**
 * Identifiers that look alike and must not be mixed. `payment_id` is the public identifier in `payments` and the internal number
 * in the tables that refer to it, so each has a type of its own.
 */

declare const brand: unique symbol;
type Branded<Value, Name extends string> = Value & { readonly [brand]: Name };

/** `payments.id`: the internal number. Other tables refer to it; no caller ever sees it. */
export type PaymentNumber = Branded<number, 'PaymentNumber'>;

/** `payments.payment_id`: the public identifier, as `PAY000001`. */
export type PaymentId = Branded<string, 'PaymentId'>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID in its usual spelling (RFC 9562, section 4), of any version. PostgreSQL refuses other texts for a `uuid`. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
