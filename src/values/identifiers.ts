/**
 * Types for identifiers that look alike and must not be mixed up. In `payments`, `payment_id` is the public identifier. In the tables that
 * refer to it, it is the internal number.
 */

declare const brand: unique symbol;
type Branded<Value, Name extends string> = Value & { readonly [brand]: Name };

/** `payments.id`: the internal number. Other tables refer to it; no caller ever sees it. */
export type PaymentNumber = Branded<number, 'PaymentNumber'>;

/** `payments.payment_id`: the public identifier, such as `PAY000001`. */
export type PaymentId = Branded<string, 'PaymentId'>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID of any version in its usual spelling (RFC 9562, section 4). PostgreSQL refuses any other text for a `uuid`. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
