import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { MASS_BENEFICIARY } from '../../orders/mass-beneficiaries/declaration.ts';
import { findMassBeneficiary } from '../../orders/mass-beneficiaries/reading.ts';
import { createMassBeneficiary, updateMassBeneficiary } from '../../orders/mass-beneficiaries/record.ts';
import { closed } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { errors, jsonAnswer, uuidPath } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

/** The largest body in bytes, enough for the most errors of a request with their texts. */
const MAX_ERRORS_BYTES = 8_388_608;

const MassBody = Type.Object(MASS_BENEFICIARY.given('client_id'), {
  ...closed,
  title: 'MassBeneficiaryInput',
  examples: [{ client_id: 'CLI000001', status: 'queued' }],
});
const { client_id, status, errors: reported } = MASS_BENEFICIARY.changed;
const MassPatch = Type.Object(
  { client_id: Type.Optional(client_id), status, errors: reported, add_errors: reported },
  {
    ...closed,
    title: 'MassBeneficiaryPatch',
    examples: [
      {
        status: 'processing',
        errors: [
          {
            code: 'invalid_iban',
            message: 'The IBAN is not valid',
            details: 'beneficiaries[17].iban',
            request_index: 17,
          },
        ],
      },
    ],
  },
);

const MassBeneficiary = Type.Object(MASS_BENEFICIARY.shown, {
  title: 'MassBeneficiaryRecord',
  examples: [MASS_BENEFICIARY.example],
});
const CREATE = operation('POST /mass-beneficiaries', {
  bodyLimit: MAX_ERRORS_BYTES,
  config: { ...FEED, location: '/mass-beneficiaries/{mass_beneficiary_id}' },
  schema: {
    operationId: 'createMassBeneficiary',
    tags: ['mass beneficiaries'],
    summary: 'Record a mass-beneficiaries instruction',
    body: MassBody,
    response: {
      201: jsonAnswer('The instruction', MassBeneficiary),
      ...errors(400, 404, 409, 502, 'client_not_found', 'already_exists'),
    },
  },
});

const CHANGE = operation('PATCH /mass-beneficiaries/{mass_beneficiary_id}', {
  bodyLimit: MAX_ERRORS_BYTES,
  config: FEED,
  schema: {
    operationId: 'updateMassBeneficiary',
    tags: ['mass beneficiaries'],
    summary: 'Set the status of an instruction and report errors',
    description:
      '`errors` replaces the errors reported so far, `add_errors` adds to them. One that a client has sent is not the institution’s to change.',
    params: uuidPath('mass_beneficiary_id', 'Instruction'),
    body: MassPatch,
    response: {
      200: jsonAnswer('The instruction', MassBeneficiary),
      ...errors(400, 404, 409, 502, 'mass_beneficiary_not_found', 'transition_not_allowed'),
    },
  },
});

const READ_ONE = operation('GET /mass-beneficiaries/{mass_beneficiary_id}', {
  config: READ,
  schema: {
    tags: ['mass beneficiaries'],
    operationId: 'getMassBeneficiary',
    summary: 'Read an instruction',
    params: uuidPath('mass_beneficiary_id', 'Instruction'),
    response: {
      200: jsonAnswer('The instruction', MassBeneficiary),
      ...errors(403, 404, 502, 'mass_beneficiary_not_found'),
    },
  },
});

/** Mass-beneficiary instructions (docs/operator-interface.md). */
export function operatorMassBeneficiaryRoutes(app: FastifyInstance, context: Context): void {
  serve(
    app,
    CREATE,
    change(context, 201, (tx, act, request) => createMassBeneficiary(tx, act, request.body)),
  );
  serve(app, READ_ONE, (request) => findMassBeneficiary(context.pool, request.params.mass_beneficiary_id));
  serve(
    app,
    CHANGE,
    change(context, 200, (tx, act, request) =>
      updateMassBeneficiary(tx, act, request.params.mass_beneficiary_id, request.body),
    ),
  );
}
