import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import {
  BENEFICIARY,
  type BeneficiaryInput,
  createBeneficiary,
  findBeneficiary,
  listBeneficiaries,
  updateBeneficiary,
} from '../../beneficiaries/beneficiary.ts';
import type { Context } from '../../context.ts';
import type { Patch } from '../../database/record.ts';
import { closed } from '../../values/schemas.ts';
import { sendList } from '../schemas/reply.ts';
import {
  type ClientPage,
  ClientPageQuery,
  errors,
  idPath,
  jsonAnswer,
  listAnswer,
  listRequest,
} from '../schemas/schemas.ts';
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
  examples: [
    {
      beneficiary_id: 'BEN000001',
      client_id: 'CLI000001',
      beneficiary_name: 'Müller GmbH',
      beneficiary_aml_id: null,
      account_number: null,
      iban: 'DE89370400440532013000',
      swift_code: 'COBADEFFXXX',
      bank_identifier: null,
      currency: 'EUR',
      beneficiary_active: true,
      beneficiary_authorised: true,
      beneficiary_blocked: false,
      beneficiary_completed: true,
      beneficiary_verified: true,
    },
  ],
});

const CREATE = {
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
};

const LIST = {
  config: READ,
  schema: {
    operationId: 'listBeneficiaries',
    tags: ['beneficiaries'],
    summary: 'List beneficiaries',
    querystring: ClientPageQuery,
    response: { 200: listAnswer('A page of beneficiaries', BeneficiaryRecord), ...errors(400, 502) },
  },
};

const READ_ONE = {
  config: READ,
  schema: {
    operationId: 'getBeneficiary',
    tags: ['beneficiaries'],
    summary: 'Read a beneficiary',
    params: idPath('beneficiary_id'),
    response: { 200: jsonAnswer('The beneficiary', BeneficiaryRecord), ...errors(404, 502, 'beneficiary_not_found') },
  },
};

const CHANGE = {
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
};

/** Beneficiaries (docs/operator-interface.md). */
export function operatorBeneficiaryRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;

  app.post<{ Body: BeneficiaryInput }>(
    '/beneficiaries',
    CREATE,
    change(context, 201, (tx, act, request) => createBeneficiary(tx, act, request.body)),
  );
  app.get<{ Querystring: ClientPage }>('/beneficiaries', LIST, async ({ query }, reply) =>
    sendList(reply, await listBeneficiaries(pool, listRequest(query))),
  );
  app.get<{ Params: { beneficiary_id: string } }>('/beneficiaries/:beneficiary_id', READ_ONE, (request) =>
    findBeneficiary(pool, request.params.beneficiary_id),
  );
  app.patch<{ Params: { beneficiary_id: string }; Body: Patch<typeof BENEFICIARY> }>(
    '/beneficiaries/:beneficiary_id',
    CHANGE,
    change(context, 200, (tx, act, request) => updateBeneficiary(tx, act, request.params.beneficiary_id, request.body)),
  );
}
