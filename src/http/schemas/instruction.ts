import { Type } from 'typebox';
import { LENGTHS } from '../../beneficiaries/declaration.ts';
import { REASONS } from '../../values/reasons.ts';
import { Country, Currency, closed, Day, PATTERNS } from '../../values/schemas.ts';

/** The largest body with many instructions, in bytes (instructions, 2). */
export const MAX_INSTRUCTIONS_BYTES = 8_388_608;

const text = (description: string, maxLength: number) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, pattern: PATTERNS.notBlank, description }));
const DETAIL = 64;

export const INSTRUCTION_EXAMPLE = {
  ...{ payment_currency: 'EUR', payment_amount: 250.5, payment_reference: 'Invoice 42', direction: 'buy' },
  ...{ trade_type: 'spot', beneficiary_name: 'Müller GmbH', beneficiary_country: 'DE', bank_country: 'DE' },
  iban: 'DE89370400440532013000',
};

/** One of many payments (instructions, second page, 8). This schema only describes it; the service reads it with words of its own. */
export const INSTRUCTION = Type.Object(
  {
    payment_currency: Currency('Currency of the payment, ISO 4217'),
    payment_amount: Type.Number({ exclusiveMinimum: 0, description: 'Amount, with the decimals of its currency' }),
    payment_reference: Type.String({
      ...{ minLength: 3, maxLength: 140, pattern: PATTERNS.noControls },
      description: 'What the payee reads; no control characters',
    }),
    direction: Type.Enum(['buy'], { description: 'The currency of the payment is bought' }),
    trade_type: Type.Enum(['spot']),
    value_date: Type.Optional(Day('When it is to be paid; a past or closed day moves; default: as early as possible')),
    instruction_id: text("The client's own identifier", 35),
    beneficiary_id: text('Who is paid, alone; or the fields of a payee', DETAIL),
    beneficiary_name: text('Name of the payee', LENGTHS.name),
    beneficiary_country: Type.Optional(Country('Country of the payee, ISO 3166-1')),
    bank_country: Type.Optional(Country('Country of its bank, ISO 3166-1')),
    beneficiary_address: text('Address, parted at its last comma into line and city', LENGTHS.address_line_1),
    beneficiary_city: text('City; with it the address is the line as it stands', LENGTHS.city),
    beneficiary_state: text('State or region', LENGTHS.state_region),
    beneficiary_post_code: text('Post code', LENGTHS.post_code),
    iban: text('IBAN', DETAIL),
    account_number: text('Account number', DETAIL),
    bank_code: text('Sort code, ABA, BSB, IFSC or what the country has', DETAIL),
    swift_code: text('BIC', DETAIL),
    bank_name: text('Name of the bank', LENGTHS.bank_name),
    purpose_of_payment: text('Purpose, for the bank of the payee', LENGTHS.purpose_of_payment),
    reason_for_trade: Type.Optional(Type.Enum([...REASONS], { description: 'Why it is paid' })),
  },
  {
    ...closed,
    title: 'Instruction',
    examples: [INSTRUCTION_EXAMPLE],
  },
);

/** An instruction that cannot be done, as it was sent, together with what is wrong with it. */
export const INVALID_INSTRUCTION = Type.Object(
  {
    errors: Type.Array(
      Type.Object({
        code: Type.String({ description: 'What is wrong' }),
        message: Type.String({ description: 'Short description of the cause' }),
        details: Type.String({ description: 'The field, and what it must be; never a bank detail' }),
      }),
    ),
    request_index: Type.Integer({ description: 'Its place in what was sent, from 0' }),
  },
  {
    additionalProperties: true,
    title: 'InvalidInstruction',
    description: 'An instruction that cannot be done: its fields as they were sent, beside errors and request_index',
    examples: [
      {
        ...{ payment_currency: 'EUR', payment_amount: 250.5, payment_reference: 'Invoice 42', direction: 'buy' },
        ...{ trade_type: 'spot', beneficiary_id: 'BEN000009', request_index: 1 },
        errors: [
          {
            code: 'beneficiary_not_found',
            message: 'The beneficiary does not exist',
            details: 'beneficiary_id: does not exist for this client',
          },
        ],
      },
    ],
  },
);
