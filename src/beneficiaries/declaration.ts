import { Type } from 'typebox';
import {
  chosen,
  type Input,
  initially,
  made,
  optional,
  type Patch,
  RecordKind,
  required,
  type Shown,
  type Stored,
} from '../database/record.ts';
import { Problem } from '../values/errors.ts';
import { REASONS } from '../values/reasons.ts';
import { ClientId, Country, Currency, EmailAddress, Id, Name, Nullable, Text } from '../values/schemas.ts';
import { textArray } from '../values/text-array.ts';
import { KEY_COLUMNS, keysOf } from './account-key.ts';
import { BANK_DETAILS, type BankDetail, detailFaults, electronic } from './bank-account.ts';
import { MAX_DETAIL_CHARACTERS } from './bank-table.ts';

/** Who made a beneficiary. */
export const SOURCES = ['client', 'institution'] as const;
export type Source = (typeof SOURCES)[number];

/** The most characters of a beneficiary's texts, and the most addresses. */
export const LENGTHS = {
  ...{ name: 140, address_line_1: 140, city: 35, state_region: 35, post_code: 16 },
  ...{ beneficiary_reference: 140, reference_information: 140 },
  ...{ bank_name: 140, bank_address_line_1: 140, purpose_of_payment: 35 },
} as const;
export const MAX_EMAIL_ADDRESSES = 5;
/** The most characters of a bank detail as it is given, with blanks and hyphens. */
const MAX_GIVEN_CHARACTERS = 64;

const flag = Type.Boolean();
const text = (description: string, field: keyof typeof LENGTHS, example: string | null = null) =>
  optional(Text(description, LENGTHS[field]), { example });
const country = (description: string, example: string) =>
  optional(Country(description), { example, shown: Nullable(Type.String({ description })) });
const detail = (description: string, example: string | null = null) =>
  optional(Text(description, MAX_GIVEN_CHARACTERS), { normal: (given: string) => electronic(given) || null, example });

/**
 * The party that a payment pays. Fields that a Payment also shows have the same names. Fields of beneficiaries only have the names that
 * clients use (src/beneficiaries/client-view.ts).
 */
export const BENEFICIARY = new RecordKind({
  table: 'beneficiaries',
  id: 'beneficiary_id',
  fields: {
    beneficiary_id: chosen(Id('Chosen by the core; default: a new one'), { example: 'BEN000001' }),
    client_id: required(ClientId, { fixed: true, shown: ClientId, example: 'CLI000001' }),
    beneficiary_name: required(Name('Name'), { example: 'Müller GmbH' }),
    beneficiary_aml_id: optional(Text('Formatted identifier', 64), { example: null }),
    account_number: detail('Destination account number'),
    iban: detail('IBAN; its length and check digits are checked', 'DE89370400440532013000'),
    swift_code: detail('BIC; checked', 'COBADEFFXXX'),
    bank_identifier: detail('Bank identifier, as a sort code'),
    currency: optional(Currency(), { example: 'EUR' }),
    beneficiary_active: initially(flag, true, { column: 'active', example: true }),
    beneficiary_authorised: initially(flag, true, { column: 'authorised', example: true }),
    beneficiary_blocked: initially(flag, false, { column: 'blocked', example: false }),
    beneficiary_completed: initially(flag, true, { column: 'completed', example: true }),
    beneficiary_verified: initially(flag, true, { column: 'verified', example: true }),
    country_code: country('Country of the beneficiary', 'DE'),
    address_line_1: text('Street and number', 'address_line_1', 'Hauptstrasse 1'),
    city: text('City', 'city', 'Berlin'),
    state_region: text('State or region', 'state_region'),
    post_code: text('Post code', 'post_code', '10115'),
    email_notification: initially(Type.Boolean({ description: 'The institution mails when it pays' }), false, {
      example: false,
    }),
    email_addresses: initially(Type.Array(EmailAddress('Address'), { maxItems: MAX_EMAIL_ADDRESSES }), '{}', {
      normal: textArray,
      shown: Type.Array(Type.String()),
      example: [],
    }),
    beneficiary_reference: text('What the client calls it', 'beneficiary_reference'),
    reference_information: text('What else is to be known', 'reference_information'),
    bank_country_code: country('Country of the bank', 'DE'),
    correspondent_account: detail('Account of the bank at its correspondent'),
    correspondent_swift_code: detail('BIC of the correspondent; checked'),
    bank_name: text('Name of the bank', 'bank_name', 'Commerzbank'),
    bank_address_line_1: text('Address of the bank', 'bank_address_line_1'),
    purpose_of_payment: text('Purpose of the payments to it', 'purpose_of_payment'),
    reason_for_trade: optional(Type.Enum([...REASONS], { description: 'Why it is paid' }), { example: null }),
    account_id: made(Type.Integer({ description: 'The number of its bank account; it never changes' }), { example: 1 }),
    source: made(Type.Enum([...SOURCES], { description: 'Who made it' }), { example: 'institution' }),
    created: made(Type.String({ format: 'date', description: 'London day of its creation' }), {
      // Immutable, as Citus requires for returned expressions.
      elsewhere: "(created_at at time zone 'Europe/London')::date",
      example: '2026-07-01',
    }),
  },
});
export type Beneficiary = Shown<typeof BENEFICIARY>;
export type BeneficiaryInput = Input<typeof BENEFICIARY>;
export type BeneficiaryPatch = Patch<typeof BENEFICIARY> & VersionGiven;

/** The feed version on which a change was based. */
export interface VersionGiven {
  version?: number;
}

/** The checked bank details of the institution's payees: IBAN, BIC and lengths on their own, and the bank's country if it is given. */
const DETAIL_FIELDS: readonly string[] = [...BANK_DETAILS, 'bank_country_code'];

/**
 * The columns of a beneficiary of the institution, including those that are derived from its name and account.
 * @param stored all its stored values
 * @param changed the columns that were given
 * @throws Problem invalid_body
 */
export function completed(stored: Stored, changed: readonly string[] = Object.keys(stored)): Stored {
  if (changed.some((name) => DETAIL_FIELDS.includes(name))) {
    const details = stored as Partial<Record<BankDetail | 'bank_country_code', string | null>>;
    const long = BANK_DETAILS.find((name) => (details[name]?.length ?? 0) > MAX_DETAIL_CHARACTERS);
    if (long)
      throw new Problem('invalid_body', {
        field: long,
        message: `must have at most ${MAX_DETAIL_CHARACTERS} characters`,
      });
    const fault = detailFaults(details).find(({ code }) => !FREE.has(code));
    if (fault) throw new Problem('invalid_body', fault);
  }
  return { ...stored, ...keysOf(stored as unknown as Beneficiary) };
}

/** Faults that are ignored, because the core's own account numbers and bank identifiers may have any form. */
const FREE: ReadonlySet<string> = new Set(['invalid_account_number', 'invalid_bank_identifier']);

/** The columns that a change writes: those that are given, and those that are derived from name and account. @throws Problem invalid_body */
export function completedChange(before: Beneficiary, values: Stored): Stored {
  const changed = Object.keys(values);
  if (changed.length === 0) return values;
  const whole = completed({ ...(before as unknown as Stored), ...values }, changed);
  return { ...values, ...Object.fromEntries(KEY_COLUMNS.map((name) => [name, whole[name]])) };
}
