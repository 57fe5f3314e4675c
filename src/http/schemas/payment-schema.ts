import { Type } from 'typebox';
import type { PaymentId } from '../../values/identifiers.ts';

/** The identifier of a payment in an address or a body. There may be no such payment. */
export const paymentId = (options: Parameters<typeof Type.String>[0]) => Type.Unsafe<PaymentId>(Type.String(options));
const PAYMENT_IN_ADDRESS = { description: 'Payment identifier' };
/** The payment that an address names. */
export const PaymentPath = Type.Object({ payment_id: paymentId(PAYMENT_IN_ADDRESS) });
export const ExamplePaymentPath = Type.Object({
  payment_id: paymentId({ ...PAYMENT_IN_ADDRESS, examples: ['PAY000421'] }),
});
