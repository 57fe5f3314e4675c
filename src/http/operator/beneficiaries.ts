import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import {
  BENEFICIARY,
  createBeneficiary,
  findBeneficiary,
  listBeneficiaries,
  updateBeneficiary,
} from '../../beneficiaries/beneficiary.ts';
import type { Context } from '../../context.ts';
import { closed } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { sendList } from '../schemas/reply.ts';
import { ClientPageQuery, errors, idPath, jsonAnswer, listAnswer, listRequest } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

export const BeneficiaryBody = Type.Object(BENEFICIARY.given('client_id'), {
  ...closed,
  title: 'BeneficiaryInput',
  examples: [
    {
      client_id: 'CLI000001',
      beneficiary_name: 'Müller GmbH',
      iban: 'DE89370400440532013000',
      swift_code: 'COBADEFFXXX',
      currency: 'EUR',
    },
  ],
});
const BeneficiaryPatch = Type.Partial(Type.Object(BENEFICIARY.changed), { ...closed, title: 'BeneficiaryPatch' });
const BeneficiaryRecord = Type.Object(BENEFICIARY.shown, {
  title: 'Beneficiary',
  examples: [BENEFICIARY.example],
});

const CREATE = operation('POST /beneficiaries', {
  config: { ...FEED, location: '/beneficiaries/{beneficiary_id}' },
  schema: {
    operationId: 'createBeneficiary',
    tags: ['beneficiaries'],
    summary: 'Create a beneficiary',
    body: BeneficiaryBody,
    response: {
      201: jsonAnswer('The beneficiary', BeneficiaryRecord),
      ...errors(400, 404, 409, 502, 'client_not_found', 'already_exists'),
    },
  },
});

const LIST = operation('GET /beneficiaries', {
  config: READ,
  schema: {
    operationId: 'listBeneficiaries',
    tags: ['beneficiaries'],
    summary: 'List beneficiaries',
    querystring: ClientPageQuery,
    response: { 200: listAnswer('A page of beneficiaries', BeneficiaryRecord), ...errors(400, 502) },
  },
});

const READ_ONE = operation('GET /beneficiaries/{beneficiary_id}', {
  config: READ,
  schema: {
    operationId: 'getBeneficiary',
    tags: ['beneficiaries'],
    summary: 'Read a beneficiary',
    params: idPath('beneficiary_id'),
    response: { 200: jsonAnswer('The beneficiary', BeneficiaryRecord), ...errors(404, 502, 'beneficiary_not_found') },
  },
});

const CHANGE = operation('PATCH /beneficiaries/{beneficiary_id}', {
  config: FEED,
  schema: {
    operationId: 'updateBeneficiary',
    tags: ['beneficiaries'],
    summary: 'Change a beneficiary',
    params: idPath('beneficiary_id'),
    body: BeneficiaryPatch,
    response: {
      200: jsonAnswer('The beneficiary', BeneficiaryRecord),
      ...errors(400, 404, 502, 'beneficiary_not_found'),
    },
  },
});

/** Beneficiaries (docs/operator-interface.md). */
export function operatorBeneficiaryRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;

  serve(
    app,
    CREATE,
    change(context, 201, (tx, act, request) => createBeneficiary(tx, act, request.body)),
  );
  serve(app, LIST, async ({ query }, reply) => sendList(reply, await listBeneficiaries(pool, listRequest(query))));
  serve(app, READ_ONE, (request) => findBeneficiary(pool, request.params.beneficiary_id));
  serve(
    app,
    CHANGE,
    change(context, 200, (tx, act, request) => updateBeneficiary(tx, act, request.params.beneficiary_id, request.body)),
  );
}
