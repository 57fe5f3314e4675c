import { type TProperties, type TSchema, Type } from 'typebox';
import { LENGTHS, MAX_EMAIL_ADDRESSES } from '../../beneficiaries/declaration.ts';
import type { FaultCode } from '../../values/errors.ts';
import { REASONS } from '../../values/reasons.ts';
import { Country, Currency, EmailAddress, formed, Nullable, PATTERNS } from '../../values/schemas.ts';
import { faultCode, orderBody } from '../schemas/order-body.ts';

/** Bodies of beneficiaries: types and simple limits. src/beneficiaries/order.ts finds all other faults. */

const text = (description: string, maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: PATTERNS.notBlank, description });
const TEXT = { type: 'string', minLength: 1, pattern: PATTERNS.notBlank };
/** A bank detail. It is checked further after blanks and hyphens are removed. */
const detail = (description: string) =>
  Type.String({ description: `${description}; blanks and hyphens do not count`, ...formed(TEXT) });
const coded = <S extends TSchema>(schema: S, code: FaultCode): S => ({ ...schema, ...faultCode(code) });

const NEEDED = {
  name: Type.String({ description: `At most ${LENGTHS.name} characters, without blanks around it`, ...formed(TEXT) }),
  country_code: coded(Country('Country of the beneficiary, ISO 3166-1'), 'invalid_country'),
  bank_country_code: coded(Country('Country of the bank, ISO 3166-1'), 'invalid_country'),
  bank_currency_code: coded(Currency('Currency of the account, ISO 4217'), 'invalid_currency'),
};
const DETAILS = {
  account_number: detail('Account number'),
  iban: detail('IBAN, of the country of the bank'),
  bank_identifier: detail('Sort code, ABA, BSB, IFSC or what the country has'),
};
const POSSIBLE = {
  ...DETAILS,
  swift_code: detail('BIC, of the country of the bank'),
  correspondent_account: detail('Account of the bank at its correspondent'),
  correspondent_swift_code: detail('BIC of the correspondent'),
  bank_name: text('Name of the bank', LENGTHS.bank_name),
  bank_address_line_1: text('Address of the bank', LENGTHS.bank_address_line_1),
  address_line_1: text('Street and number', LENGTHS.address_line_1),
  city: text('City', LENGTHS.city),
  state_region: text('State or region', LENGTHS.state_region),
  post_code: text('Post code', LENGTHS.post_code),
  purpose_of_payment: text('Purpose of the payments to it', LENGTHS.purpose_of_payment),
  reason_for_trade: Type.Enum([...REASONS], { description: 'Why it is paid' }),
  email_notification: Type.Boolean({ description: 'The institution mails when it pays; needs an address' }),
  email_addresses: Type.Array(EmailAddress('Address'), { maxItems: MAX_EMAIL_ADDRESSES }),
  beneficiary_reference: text('What the client calls it', LENGTHS.beneficiary_reference),
  reference_information: text('What else is to be known', LENGTHS.reference_information),
};

const optional = <P extends TProperties>(properties: P) => Type.Partial(Type.Object(properties)).properties;
const clearable = (properties: TProperties) =>
  optional(Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, Nullable(schema)])));

export const ORDER_EXAMPLE = {
  ...{ name: 'Müller GmbH', country_code: 'DE', bank_country_code: 'DE', bank_currency_code: 'EUR' },
  iban: 'DE89 3704 0044 0532 0130 00',
};
/** A new beneficiary. */
export const BeneficiaryOrder = orderBody(
  { ...NEEDED, ...optional(POSSIBLE) },
  {
    title: 'BeneficiaryOrder',
    examples: [ORDER_EXAMPLE],
  },
);

/** The fields to change in a beneficiary. */
export const BeneficiaryChange = orderBody(
  { ...optional(NEEDED), ...clearable(POSSIBLE) },
  { title: 'BeneficiaryChange', examples: [{ city: 'Hamburg', post_code: '20095' }] },
);

/** The filters of a search for beneficiaries. */
export const FILTERS = { name: Type.String({ description: 'Exact, without case' }), ...DETAILS };
export const BeneficiarySearch = orderBody(optional(FILTERS), {
  title: 'BeneficiarySearch',
  examples: [{ iban: 'DE89370400440532013000' }],
});
