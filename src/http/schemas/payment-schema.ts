import { Type } from 'typebox';
import { APPROVAL_STATUSES, AUTHORISATION_WORKFLOWS } from '../../identity/people/client.ts';
import { PAYMENT_STATUSES } from '../../payments/moves.ts';
import type { PaymentId } from '../../values/identifiers.ts';
import { Nullable } from '../../values/schemas.ts';

const text = (description: string) => Nullable(Type.String({ description }));
const flag = (description: string) => Nullable(Type.Boolean({ description }));
const moment = (description: string) => Nullable(Type.String({ format: 'date-time', description }));

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
export const Payment = Type.Object(
  {
    payment_id: Type.String({ description: 'Unique identifier of the payment' }),
    contact_id: Type.String({ description: 'Contact who booked the payment' }),
    trade_id: Type.String({ description: 'Trade the payment is allocated to' }),
    uuid: Type.String({ format: 'uuid', description: 'Internal identifier; the UETR of SWIFT payments' }),
    is_uuid_used_for_tracking: Type.Boolean({ description: 'The uuid can be used for SWIFT tracking now' }),
    amount: Type.Number({ description: 'Payment amount, exactly as it is stored' }),
    payment_currency: Type.String({ description: 'Currency of the payment' }),
    fee_amount: Nullable(Type.Number({ description: 'Fee amount' })),
    fee_currency: text('Fee currency'),
    reference: text('Payment reference'),
    status: Type.Enum([...PAYMENT_STATUSES]),
    charges: text('Charges associated with the payment'),
    invoice_required: Type.Boolean({ description: 'Whether the payment requires an invoice' }),
    ordered_by_name: Type.String({ description: 'Name of who made the order' }),
    created_date: Type.String({ format: 'date-time', description: 'When it was created, with the London offset' }),
    payment_date: Type.String({ format: 'date', description: 'Target payment date' }),
    authorised_by: text('User who authorised'),
    authorised_date: moment('When authorised'),
    cancelled_by: text('User who cancelled'),
    cancelled_date: moment('When cancelled'),
    rejected_by: text('User who rejected'),
    rejected_date: moment('When rejected'),
    reason: Type.Optional(
      Type.String({ description: 'Why a person rejected or cancelled it, in their words; only where they said so' }),
    ),
    authorisation_workflow: Type.Enum([...AUTHORISATION_WORKFLOWS]),
    approvals_workflow: Type.Object({
      authorisations: Type.Array(
        Type.Object({
          date: Type.String({ description: 'When the approval or rejection was received' }),
          status: Type.Integer({ description: '1 authorised, 2 rejected' }),
          contact_id: Type.String(),
          level: Type.Integer({ description: 'The level that it counts for, from 1' }),
          contact_name: Type.String(),
          reason: text("Why, in the contact's words"),
          on_behalf_by: text("`institution` where it acted in the contact's name; null where the contact acted itself"),
        }),
      ),
      contact_authorisation_actions: Type.Object({
        allowed: Type.Array(Type.Enum(['authorise', 'reject', 'cancel']), {
          description: 'What the requesting contact may do now',
        }),
        executed: Nullable(
          Type.Enum(['authorise', 'reject', 'cancel'], { description: "The requesting contact's last action" }),
        ),
      }),
      n_eyes_plus_status: Type.Enum([...APPROVAL_STATUSES]),
      minimum_remaining_authorisations: Type.Integer({ description: 'Authorisations still needed at least' }),
    }),
    beneficiary_name: text('Beneficiary name'),
    beneficiary_id: Type.String({ description: 'Beneficiary identifier' }),
    beneficiary_aml_id: text('Formatted beneficiary identifier'),
    beneficiary_active: flag('Beneficiary is active'),
    beneficiary_authorised: flag('Beneficiary is authorised'),
    beneficiary_blocked: flag('Beneficiary is blocked'),
    beneficiary_completed: flag('Beneficiary is complete'),
    beneficiary_verified: flag('Beneficiary is verified'),
    account_number: text('Destination account number'),
    iban: text('Destination IBAN'),
    bank_identifier: text('Bank identifier'),
    swift_code: text('Bank SWIFT code'),
    multipayment: text('Formatted multi payment identifier'),
    multipayment_id: text('Internal sequential multi payment identifier'),
    multipayment_unique_id: Nullable(Type.String({ format: 'uuid', description: 'UUID of the multi payment' })),
    payment_instruction: Type.String({ format: 'uri', description: 'Location of the payment instruction' }),
    payment_receipt: Nullable(
      Type.String({ format: 'uri', description: 'Location of the payment receipt; null until it has been sent' }),
    ),
  },
  { title: 'Payment', examples: [PAYMENT_EXAMPLE] },
);
