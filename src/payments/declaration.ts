import { Type } from 'typebox';
import { chosen, type Input, initially, made, optional, RecordKind, required, unseen } from '../database/record.ts';
import { APPROVAL_STATUSES, AUTHORISATION_WORKFLOWS } from '../identity/people/client.ts';
import { isCalendarDay, parseInstant, startOfLondonDay } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import { plain } from '../values/money.ts';
import {
  ClientId,
  Currency,
  Day,
  Decimal,
  Id,
  InstantOrDay,
  Nullable,
  RandomUuid,
  Text,
  Uuid,
} from '../values/schemas.ts';
import { PAYMENT_STATUSES } from './moves.ts';

/** Payment schemes. Only SWIFT payments can be tracked by their uuid. */
export const SCHEMES = [
  'SWIFT',
  'SEPA',
  'SEPA_INSTANT',
  'FPS',
  'BACS',
  'CHAPS',
  'ACH',
  'FEDWIRE',
  'TARGET2',
  'LOCAL',
  'INTERNAL',
] as const;

const word = (description: string) => Type.String({ description });
const text = (description: string) => Nullable(Type.String({ description }));
const flag = (description: string, example: boolean) => made(Nullable(Type.Boolean({ description })), { example });
const moment = (description: string, example: string | null) =>
  made(Nullable(Type.String({ format: 'date-time', description })), { example });
const name = (description: string) => Type.String({ minLength: 1, description });
const ACTION = ['authorise', 'reject', 'cancel'] as const;

/** An approval or rejection, as clients see it. */
export const Authorisation = Type.Object({
  date: word('When the approval or rejection was received'),
  status: Type.Integer({ description: '1 authorised, 2 rejected' }),
  contact_id: Type.String(),
  level: Type.Integer({ description: 'The level that it counts for, from 1' }),
  contact_name: Type.String(),
  reason: text("Why, in the contact's words"),
  on_behalf_by: text("`institution` where it acted in the contact's name; null where the contact acted itself"),
});

/**
 * A payment: the fields that create one, and the fields that clients see (service interface, Payment), in the order of the answer. The
 * answer itself is written by hand for speed: payment-fields.ts says from what, payment-json.ts how.
 */
export const PAYMENT = new RecordKind({
  table: 'payments',
  id: 'payment_id',
  fields: {
    client_id: unseen(required(ClientId)),
    payment_id: chosen(Id('Chosen by the core; default: a new one'), {
      shown: word('Unique identifier of the payment'),
      example: 'PAY000001',
    }),
    contact_id: required(name('The creator'), { shown: word('Contact who booked the payment'), example: 'CON000001' }),
    trade_id: required(name('Trade that funds it'), {
      shown: word('Trade the payment is allocated to'),
      example: 'TRD000001',
    }),
    uuid: made(Type.String({ format: 'uuid', description: 'Internal identifier; the UETR of SWIFT payments' }), {
      example: '7d8b0d7e-3b2a-4f3c-9a44-0d2c5a7f1e11',
    }),
    is_uuid_used_for_tracking: made(Type.Boolean({ description: 'The uuid can be used for SWIFT tracking now' }), {
      example: true,
    }),
    amount: required(Decimal('Amount', { positive: true }), {
      form: plain,
      shown: Type.Number({ description: 'Payment amount, exactly as it is stored' }),
      example: 1250.5,
    }),
    payment_currency: required(Currency(), { shown: word('Currency of the payment'), example: 'EUR' }),
    fee_amount: optional(Decimal('Fee'), {
      form: plain,
      shown: Nullable(Type.Number({ description: 'Fee amount' })),
      example: 7.5,
    }),
    fee_currency: optional(Currency(), { shown: text('Fee currency'), example: 'GBP' }),
    reference: optional(Text('Reference'), { shown: text('Payment reference'), example: 'Invoice 42' }),
    status: made(Type.Enum([...PAYMENT_STATUSES]), { example: 'Payment pending of authorization' }),
    charges: optional(Text('Charges, as OUR, SHA, BEN', 64), {
      shown: text('Charges associated with the payment'),
      example: 'SHA',
    }),
    scheme: unseen(initially(Type.Enum([...SCHEMES]), 'SWIFT')),
    invoice_required: initially(Type.Boolean(), false, {
      shown: Type.Boolean({ description: 'Whether the payment requires an invoice' }),
      example: false,
    }),
    mass_payment_id: unseen(optional(Uuid('Mass payment it belongs to'))),
    mass_payment_external_reference_id: unseen(optional(Text('Its reference at the client', 255))),
    ordered_by_name: made(word('Name of who made the order'), { example: 'Ada Byron' }),
    created_date: made(
      Type.String({ format: 'date-time', description: 'When it was created, with the London offset' }),
      { example: '2026-07-01T10:15:00+01:00' },
    ),
    payment_date: required(Day('Target payment date'), {
      shown: Type.String({ format: 'date', description: 'Target payment date' }),
      example: '2026-07-03',
    }),
    authorised_by: made(text('User who authorised'), { example: null }),
    authorised_date: moment('When authorised', null),
    cancelled_by: made(text('User who cancelled'), { example: null }),
    cancelled_date: moment('When cancelled', null),
    rejected_by: made(text('User who rejected'), { example: null }),
    rejected_date: moment('When rejected', null),
    reason: made(
      Type.Optional(
        Type.Unsafe<string | undefined>(
          Type.String({
            description: 'Why a person rejected or cancelled it, in their words; only where they said so',
          }),
        ),
      ),
    ),
    authorisation_workflow: made(Type.Enum([...AUTHORISATION_WORKFLOWS]), { example: '6-eyes' }),
    approvals_workflow: made(
      Type.Object({
        authorisations: Type.Array(Authorisation),
        contact_authorisation_actions: Type.Object({
          allowed: Type.Array(Type.Enum([...ACTION]), { description: 'What the requesting contact may do now' }),
          executed: Nullable(Type.Enum([...ACTION], { description: "The requesting contact's last action" })),
        }),
        n_eyes_plus_status: Type.Enum([...APPROVAL_STATUSES]),
        minimum_remaining_authorisations: Type.Integer({ description: 'Authorisations still needed at least' }),
      }),
      {
        example: {
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
      },
    ),
    beneficiary_name: made(text('Beneficiary name'), { example: 'Müller GmbH' }),
    beneficiary_id: required(name('Who is paid'), { shown: word('Beneficiary identifier'), example: 'BEN000001' }),
    beneficiary_aml_id: made(text('Formatted beneficiary identifier'), { example: null }),
    beneficiary_active: flag('Beneficiary is active', true),
    beneficiary_authorised: flag('Beneficiary is authorised', true),
    beneficiary_blocked: flag('Beneficiary is blocked', false),
    beneficiary_completed: flag('Beneficiary is complete', true),
    beneficiary_verified: flag('Beneficiary is verified', true),
    account_number: made(text('Destination account number'), { example: null }),
    iban: made(text('Destination IBAN'), { example: 'DE89370400440532013000' }),
    bank_identifier: made(text('Bank identifier'), { example: null }),
    swift_code: made(text('Bank SWIFT code'), { example: 'COBADEFFXXX' }),
    multipayment: made(text('Formatted multi payment identifier'), { example: 'MP000001' }),
    multipayment_id: made(text('Internal sequential multi payment identifier'), { example: '1' }),
    multipayment_unique_id: made(Nullable(Type.String({ format: 'uuid', description: 'UUID of the multi payment' })), {
      example: '0f8fad5b-d9cb-469f-a165-70867728950e',
    }),
    payment_instruction: made(Type.String({ format: 'uri', description: 'Location of the payment instruction' }), {
      example: 'https://api.example.com/documents?type=pi&id=PAY000001&client_id=CLI000001',
    }),
    payment_receipt: made(
      Nullable(
        Type.String({ format: 'uri', description: 'Location of the payment receipt; null until it has been sent' }),
      ),
      { example: null },
    ),
  },
});
const ofOrder = (description: string) => Nullable(Type.String({ description }));
/** Fields of a payment that only the institution sees: who ordered it, and what a client gave with its order. */
export const ORDERED_FIELDS = {
  scheme: Type.Enum([...SCHEMES]),
  source: Type.Enum(['client', 'institution'], { description: 'Who ordered it' }),
  reason: Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: 'Why the client ordered it; where it said nothing, why a person rejected or cancelled it',
    }),
  ),
  decision_reason: ofOrder('Why a person rejected or cancelled it, in their words'),
  purpose_of_payment: ofOrder('For the bank of the payee'),
  email_beneficiary: Nullable(Type.Boolean({ description: 'The client wants its payee to be told by mail' })),
  account_id: Nullable(Type.Integer({ description: 'The bank account of the beneficiary' })),
  funding_account_id: Nullable(Type.Integer({ description: 'The currency account that it is paid from' })),
  quote_id: ofOrder('The quote that was booked with it'),
  mass_payment_id: ofOrder('The mass payment that it belongs to'),
  request_index: Nullable(Type.Integer({ description: 'Its place in the list that was sent, from 0' })),
  instruction_id: ofOrder("The client's identifier of the instruction"),
  end_to_end_id: ofOrder("The client's identifier for its payee"),
  information: ofOrder('What the client said when it was asked for more'),
  hold_released: Type.Boolean({ description: 'What was held for it was released' }),
};
/** Example values of `ORDERED_FIELDS`. */
export const ORDERED_EXAMPLE = {
  ...{ scheme: 'SEPA', decision_reason: null, source: 'client', reason: 'payment_for_goods', purpose_of_payment: null },
  ...{ email_beneficiary: null, account_id: 12, funding_account_id: 1, quote_id: null, mass_payment_id: null },
  ...{ request_index: 0, instruction_id: null, end_to_end_id: null, information: null, hold_released: false },
};
export type PaymentInput = Input<typeof PAYMENT>;
/** The properties of a body that creates a payment. */
export const PAYMENT_FIELDS = PAYMENT.given(
  ...(['client_id', 'contact_id', 'trade_id', 'beneficiary_id', 'amount', 'payment_currency', 'payment_date'] as const),
  ...(['payment_id', 'reference'] as const),
);

const when = (description: string, options: { open?: true } = {}) =>
  optional(InstantOrDay(`${description}: an instant, or a day`), { form: asInstant, ...options });
const who = (description: string) => optional(Text(description, 128));

/** A payment in the form of the core system: the fields that create one, and how far it has come. */
export const IMPORTED_PAYMENT = new RecordKind({
  table: 'payments',
  id: 'payment_id',
  fields: {
    ...PAYMENT.fields,
    status: initially(Type.Enum([...PAYMENT_STATUSES]), undefined),
    uuid: initially(RandomUuid('Version 4, the SWIFT UETR; set once; default: a new one'), undefined),
    created_date: initially(InstantOrDay('When it was created: an instant, or a day; default: now'), undefined, {
      column: 'created',
      form: asInstant,
    }),
    authorised_by: who('Who authorised it'),
    authorised_date: when('When'),
    cancelled_by: who('Who cancelled it'),
    cancelled_date: when('When'),
    rejected_by: who('Who rejected it'),
    rejected_date: when('When'),
    sent_date: when('When it was sent; default: its payment date, if its status says that it was sent', { open: true }),
  },
});
export type ImportedPayment = Input<typeof IMPORTED_PAYMENT>;
/** The properties of a line of an import. */
export const IMPORTED_FIELDS = { ...PAYMENT_FIELDS, ...IMPORTED_PAYMENT.given() };

/** Reads an instant of the core system: ISO 8601 with an offset, or a day, which means its London midnight. @throws Problem invalid_body */
export function readMoment(text: string | null | undefined, field: string): Date | null {
  if (text == null) return null;
  const instant = parseInstant(text) ?? (isCalendarDay(text) ? startOfLondonDay(text) : undefined);
  if (!instant)
    throw new Problem('invalid_body', { field, message: 'must be a day or an ISO 8601 timestamp with an offset' });
  return instant;
}

function asInstant(value: string | Date): number | undefined {
  return (value instanceof Date ? value : readMoment(value, ''))?.getTime();
}
