import { Type } from 'typebox';
import { PAYMENT } from '../../payments/declaration.ts';
import type { PaymentId } from '../../values/identifiers.ts';

/** The identifier of a payment in an address or a body, which may name none. */
export const paymentId = (options: Parameters<typeof Type.String>[0]) => Type.Unsafe<PaymentId>(Type.String(options));
const PAYMENT_IN_ADDRESS = { description: 'Payment identifier' };
/** The payment that an address names. */
export const PaymentPath = Type.Object({ payment_id: paymentId(PAYMENT_IN_ADDRESS) });
export const ExamplePaymentPath = Type.Object({
  payment_id: paymentId({ ...PAYMENT_IN_ADDRESS, examples: ['PAY000421'] }),
});

/** A payment, for examples. */
export const PAYMENT_EXAMPLE = {
  payment_id: 'PAY000001',
  contact_id: 'CON000001',
  trade_id: 'TRD000001',
  uuid: '7d8b0d7e-3b2a-4f3c-9a44-0d2c5a7f1e11',
  is_uuid_used_for_tracking: true,
  amount: 1250.5,
  payment_currency: 'EUR',
  fee_amount: 7.5,
  fee_currency: 'GBP',
  reference: 'Invoice 42',
  status: 'Payment pending of authorization',
  charges: 'SHA',
  invoice_required: false,
  ordered_by_name: 'Ada Byron',
  created_date: '2026-07-01T10:15:00+01:00',
  payment_date: '2026-07-03',
  authorised_by: null,
  authorised_date: null,
  cancelled_by: null,
  cancelled_date: null,
  rejected_by: null,
  rejected_date: null,
  authorisation_workflow: '6-eyes',
  approvals_workflow: {
    authorisations: [
      {
        date: '2026-07-01T11:02:41+01:00',
        status: 1,
        contact_id: 'CON000002',
        level: 1,
        contact_name: 'Grace Murray',
        reason: 'Matches invoice 42',
        on_behalf_by: null,
      },
    ],
    contact_authorisation_actions: { allowed: ['authorise', 'reject'], executed: null },
    n_eyes_plus_status: 'Pending approval',
    minimum_remaining_authorisations: 1,
  },
  beneficiary_name: 'Müller GmbH',
  beneficiary_id: 'BEN000001',
  beneficiary_aml_id: null,
  beneficiary_active: true,
  beneficiary_authorised: true,
  beneficiary_blocked: false,
  beneficiary_completed: true,
  beneficiary_verified: true,
  account_number: null,
  iban: 'DE89370400440532013000',
  bank_identifier: null,
  swift_code: 'COBADEFFXXX',
  multipayment: 'MP000001',
  multipayment_id: '1',
  multipayment_unique_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
  payment_instruction: 'https://api.example.com/documents?type=pi&id=PAY000001&client_id=CLI000001',
  payment_receipt: null,
};

/** A Payment as clients see it (the service interface, Payment): for the API description. */
export const Payment = Type.Object(PAYMENT.shown, { title: 'Payment', examples: [PAYMENT_EXAMPLE] });
