import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import {
  createBeneficiary,
  findBeneficiary,
  listBeneficiaries,
  updateBeneficiary,
} from '../../beneficiaries/beneficiary.ts';
import type { Context } from '../../context.ts';
import { sendList } from '../schemas/reply.ts';
import {
  ClientId,
  type ClientPage,
  ClientPageQuery,
  Currency,
  closed,
  errors,
  Id,
  idPath,
  jsonAnswer,
  listAnswer,
  listRequest,
  Name,
  Nullable,
  Text,
} from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

const flag = Type.Optional(Type.Boolean());

const BeneficiaryFields = {
  beneficiary_name: Name('Name'),
  beneficiary_aml_id: Type.Optional(Nullable(Text('Formatted identifier', 64))),
  account_number: Type.Optional(Nullable(Text('Destination account number', 64))),
  iban: Type.Optional(Nullable(Text('IBAN; its length and check digits are checked', 64))),
  swift_code: Type.Optional(Nullable(Text('BIC; checked', 32))),
  bank_identifier: Type.Optional(Nullable(Text('Bank identifier, as a sort code', 64))),
  currency: Type.Optional(Nullable(Currency())),
  beneficiary_active: flag,
  beneficiary_authorised: flag,
  beneficiary_blocked: flag,
  beneficiary_completed: flag,
  beneficiary_verified: flag,
};
export const BeneficiaryBody = Type.Object(
  {
    client_id: ClientId,
    beneficiary_id: Type.Optional(Id('Chosen by the core; default: a new one')),
    ...BeneficiaryFields,
  },
  {
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
  },
);
const BeneficiaryPatch = Type.Partial(Type.Object(BeneficiaryFields), { ...closed, title: 'BeneficiaryPatch' });
const Beneficiary = Type.Object(
  {
    beneficiary_id: Type.String(),
    client_id: ClientId,
    beneficiary_name: Type.String(),
    beneficiary_aml_id: Nullable(Type.String()),
    account_number: Nullable(Type.String()),
    iban: Nullable(Type.String()),
    swift_code: Nullable(Type.String()),
    bank_identifier: Nullable(Type.String()),
    currency: Nullable(Type.String()),
    beneficiary_active: Type.Boolean(),
    beneficiary_authorised: Type.Boolean(),
    beneficiary_blocked: Type.Boolean(),
    beneficiary_completed: Type.Boolean(),
    beneficiary_verified: Type.Boolean(),
  },
  {
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
  },
);

const CREATE = {
  config: { ...FEED, location: '/beneficiaries/{beneficiary_id}' },
  schema: {
    operationId: 'createBeneficiary',
    tags: ['beneficiaries'],
    summary: 'Create a beneficiary',
    body: BeneficiaryBody,
    response: {
      201: jsonAnswer('The beneficiary', Beneficiary),
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
    response: { 200: listAnswer('A page of beneficiaries', Beneficiary), ...errors(400, 502) },
  },
};

const READ_ONE = {
  config: READ,
  schema: {
    operationId: 'getBeneficiary',
    tags: ['beneficiaries'],
    summary: 'Read a beneficiary',
    params: idPath('beneficiary_id'),
    response: { 200: jsonAnswer('The beneficiary', Beneficiary), ...errors(404, 502, 'beneficiary_not_found') },
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
    response: { 200: jsonAnswer('The beneficiary', Beneficiary), ...errors(400, 404, 502, 'beneficiary_not_found') },
  },
};

/** Beneficiaries (docs/operator-interface.md). */
export function operatorBeneficiaryRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;

  app.post<{ Body: Static<typeof BeneficiaryBody> }>(
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
  app.patch<{ Params: { beneficiary_id: string }; Body: Static<typeof BeneficiaryPatch> }>(
    '/beneficiaries/:beneficiary_id',
    CHANGE,
    change(context, 200, (tx, act, request) => updateBeneficiary(tx, act, request.params.beneficiary_id, request.body)),
  );
}
