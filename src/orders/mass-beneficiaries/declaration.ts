import { Type } from 'typebox';
import { chosen, initially, made, RecordKind, required, type Shown } from '../../database/record.ts';
import { ClientId, Nullable, Uuid } from '../../values/schemas.ts';
import { GIVEN_ERRORS, SHOWN_ERRORS } from './errors.ts';

/** An instruction to create many beneficiaries, sent by a client or recorded by the institution, in the form that both read. */

export const MASS_BENEFICIARY_STATUSES = ['queued', 'processing', 'created', 'failed'] as const;
export type MassBeneficiaryStatus = (typeof MASS_BENEFICIARY_STATUSES)[number];

const count = (description: string) => Nullable(Type.Integer({ description }));

export const MASS_BENEFICIARY = new RecordKind({
  table: 'mass_beneficiaries',
  id: 'mass_beneficiary_id',
  fields: {
    mass_beneficiary_id: chosen(Uuid('Chosen by the core; default: a new one'), {
      shown: Type.String({ format: 'uuid' }),
      example: '5b0c1f0e-6a3e-4a5e-9a53-0a3f3a7c1d11',
    }),
    client_id: required(ClientId, { shown: ClientId, example: 'CLI000001' }),
    status: initially(Type.Enum([...MASS_BENEFICIARY_STATUSES]), 'queued', { example: 'created' }),
    created_date: made(Type.String({ format: 'date-time' }), { example: '2026-07-01T10:15:00+01:00' }),
    created_by: made(Nullable(Type.String({ description: 'The contact who sent it; null: the institution' })), {
      example: 'CON000001',
    }),
    rows_received: made(count('Beneficiaries in it; null where the institution made it'), { example: 3 }),
    rows_created: made(count('Beneficiaries that were made; null where the institution made it'), { example: 2 }),
    rows_errored: made(Type.Integer({ description: 'Beneficiaries that could not be made, each once' }), {
      example: 1,
    }),
    error_count: made(Type.Integer({ description: 'What was wrong with them, each fault' }), { example: 1 }),
    errors: initially(GIVEN_ERRORS, undefined, {
      shown: SHOWN_ERRORS,
      example: [
        {
          ...{ code: 'invalid_iban', message: 'The IBAN is not valid', request_index: 1 },
          details: 'iban: must be an IBAN with the length of its country and correct check digits',
        },
      ],
    }),
  },
});
export type MassBeneficiary = Shown<typeof MASS_BENEFICIARY>;

const OF_CLIENT = ['mass_beneficiary_id', 'status', 'rows_received', 'rows_created', 'rows_errored'] as const;
const { shown, example } = MASS_BENEFICIARY;

export const CLIENT_MASS_BENEFICIARY_EXAMPLE = Object.fromEntries(OF_CLIENT.map((name) => [name, example[name]]));
/** An instruction as its client sees it. */
export const CLIENT_MASS_BENEFICIARY = Type.Object(
  {
    mass_beneficiary_id: shown.mass_beneficiary_id,
    status: shown.status,
    rows_received: shown.rows_received,
    rows_created: shown.rows_created,
    rows_errored: shown.rows_errored,
  },
  { title: 'MassBeneficiary', examples: [CLIENT_MASS_BENEFICIARY_EXAMPLE] },
);

/** An instruction in the form that its client sees. */
export const clientView = (record: MassBeneficiary) => MASS_BENEFICIARY.show(OF_CLIENT, record);
