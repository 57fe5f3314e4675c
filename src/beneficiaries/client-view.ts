import { Type } from 'typebox';
import type { Transaction } from '../database/database.ts';
import { Nullable } from '../values/schemas.ts';
import { notifyAll } from '../webhooks/notification.ts';
import { BENEFICIARY, type Beneficiary } from './declaration.ts';

export const AML_STATUSES = ['OK', 'Pending Review', 'Pending information', 'Blocked'] as const;
export type AmlStatus = (typeof AML_STATUSES)[number];

/** The fields of a beneficiary that have the same name for clients and the institution, and those of its bank account. */
const OWN = [
  ...(['country_code', 'email_notification', 'email_addresses', 'address_line_1', 'city', 'state_region'] as const),
  ...(['post_code', 'beneficiary_reference', 'reference_information'] as const),
] as const;
const OF_ACCOUNT = [
  ...(['account_number', 'iban', 'bank_identifier', 'swift_code', 'correspondent_account'] as const),
  ...([
    'correspondent_swift_code',
    'bank_name',
    'bank_address_line_1',
    'purpose_of_payment',
    'reason_for_trade',
  ] as const),
] as const;

/** A beneficiary in the form that clients see. */
export interface ClientBeneficiary extends Pick<Beneficiary, (typeof OWN)[number]> {
  beneficiary_id: string | null;
  name: string;
  created: string | null;
  active: boolean;
  aml_status: AmlStatus;
  bank_accounts: BankAccountView[];
}
interface BankAccountView extends Pick<Beneficiary, (typeof OF_ACCOUNT)[number]> {
  account_id: number | null;
  bank_country_code: string | null;
  bank_currency_code: string | null;
}

/** How far the institution's review of a beneficiary has come. */
function amlStatus(flags: {
  beneficiary_blocked: boolean;
  beneficiary_completed: boolean;
  beneficiary_verified: boolean;
}): AmlStatus {
  if (flags.beneficiary_blocked) return 'Blocked';
  if (!flags.beneficiary_completed) return 'Pending information';
  return flags.beneficiary_verified ? 'OK' : 'Pending Review';
}

/** A beneficiary in the form that clients see. */
export function clientView(record: Beneficiary): ClientBeneficiary {
  return {
    beneficiary_id: record.beneficiary_id,
    name: record.beneficiary_name,
    ...BENEFICIARY.show(OWN, record),
    created: record.created,
    active: record.beneficiary_active,
    aml_status: amlStatus(record),
    bank_accounts: [
      {
        account_id: record.account_id,
        bank_country_code: record.bank_country_code,
        bank_currency_code: record.currency,
        ...BENEFICIARY.show(OF_ACCOUNT, record),
      },
    ],
  };
}

const { shown, example } = BENEFICIARY;
const pick = (names: readonly (keyof Beneficiary)[]) => Object.fromEntries(names.map((name) => [name, shown[name]]));
const chosen = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, example[name]]));

/** An example of what clients see. */
export const CLIENT_BENEFICIARY_EXAMPLE = {
  beneficiary_id: example.beneficiary_id,
  name: example.beneficiary_name,
  ...chosen(OWN),
  created: example.created,
  active: true,
  aml_status: 'OK',
  bank_accounts: [
    { account_id: 1, bank_country_code: 'DE', bank_currency_code: 'EUR', ...chosen(OF_ACCOUNT), iban: example.iban },
  ],
};

/** The schema of what clients see. */
export const CLIENT_BENEFICIARY = Type.Object(
  {
    beneficiary_id: Nullable(Type.String({ description: 'Null where it is only tried' })),
    name: Type.String(),
    ...pick(OWN),
    created: Nullable(Type.String({ format: 'date', description: 'London day; null where it is only tried' })),
    active: Type.Boolean({ description: 'False once it is deleted' }),
    aml_status: Type.Enum([...AML_STATUSES], { description: 'How far the institution is with it' }),
    bank_accounts: Type.Array(
      Type.Object({
        account_id: Nullable(Type.Integer({ description: 'It never changes; null where it is only tried' })),
        bank_country_code: shown.bank_country_code,
        bank_currency_code: shown.currency,
        ...pick(OF_ACCOUNT),
      }),
      { description: 'One account' },
    ),
  },
  { title: 'Beneficiary', examples: [CLIENT_BENEFICIARY_EXAMPLE] },
);

/** Writes a BENEFICIARY_STATUS_CHANGE for each beneficiary in its current state. */
export async function notifyBeneficiaries(tx: Transaction, now: Date, records: readonly Beneficiary[]): Promise<void> {
  const told = records.map((record) => ({
    ...{ clientId: record.client_id, type: 'BENEFICIARY_STATUS_CHANGE' as const, now },
    body: JSON.stringify({ data: [clientView(record)] }),
  }));
  await notifyAll(tx, told);
}

/** Like `notifyBeneficiaries`, if the change is one that clients are told about. */
export async function notifyChangedBeneficiary(
  tx: Transaction,
  now: Date,
  before: Beneficiary,
  after: Beneficiary,
): Promise<void> {
  const same = amlStatus(before) === amlStatus(after) && before.beneficiary_active === after.beneficiary_active;
  if (!same) await notifyBeneficiaries(tx, now, [after]);
}
