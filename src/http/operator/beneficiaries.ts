import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import {
  createBeneficiary,
  findBeneficiary,
  listBeneficiaries,
  updateBeneficiary,
} from '../../beneficiaries/beneficiary.ts';
import { BENEFICIARY, SOURCES } from '../../beneficiaries/declaration.ts';
import type { Context } from '../../context.ts';
import { closed } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { sendList, sendValue } from '../schemas/reply.ts';
import { ClientPageQuery, errors, idPath, jsonAnswer, listAnswer, listRequest } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

const BeneficiaryBody = Type.Object(BENEFICIARY.given('client_id'), {
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
const Version = {
  version: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'The version that was seen, as ETag has it. Another one by now: 409 `version_mismatch`',
    }),
  ),
};
/** A line of an import, which may change an existing beneficiary. */
export const BeneficiaryLine = Type.Object({ ...BeneficiaryBody.properties, ...Version }, closed);
const BeneficiaryPatch = Type.Partial(Type.Object({ ...BENEFICIARY.changed, ...Version }), {
  ...closed,
  title: 'BeneficiaryPatch',
});
const ETAG = {
  ETag: { type: 'string', description: 'The version of the record in the feed, in quotes', example: '"3"' },
};
const ListQuery = Type.Object({
  ...ClientPageQuery.properties,
  source: Type.Optional(Type.Enum([...SOURCES], { description: 'Who made it' })),
});
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
    querystring: ListQuery,
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
    response: {
      200: jsonAnswer('The beneficiary', BeneficiaryRecord, ETAG),
      ...errors(404, 502, 'beneficiary_not_found'),
    },
  },
});

const CHANGE = operation('PATCH /beneficiaries/{beneficiary_id}', {
  config: FEED,
  schema: {
    operationId: 'updateBeneficiary',
    tags: ['beneficiaries'],
    summary: 'Change a beneficiary',
    description:
      'What frees a beneficiary that a client made needs `version`: verified, completed, authorised or active true, blocked false. ' +
      'Nobody verifies what was not seen. A `version` that is given counts in every change.',
    params: idPath('beneficiary_id'),
    body: BeneficiaryPatch,
    response: {
      200: jsonAnswer('The beneficiary', BeneficiaryRecord),
      ...errors(400, 404, 502, 'beneficiary_not_found', 'version_mismatch'),
    },
  },
});

export type BeneficiaryOperations = typeof CREATE | typeof LIST | typeof READ_ONE | typeof CHANGE;

/** Beneficiaries (docs/operator-interface.md). */
export function operatorBeneficiaryRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;

  serve(
    app,
    CREATE,
    change(context, 201, (tx, act, request) => createBeneficiary(tx, act, request.body)),
  );
  serve(app, LIST, async ({ query }, reply) =>
    sendList(reply, await listBeneficiaries(pool, { ...listRequest(query), source: query.source })),
  );
  serve(app, READ_ONE, async (request, reply) => {
    const { record, version } = await findBeneficiary(pool, request.params.beneficiary_id);
    return sendValue(reply.header('etag', `"${version}"`), record);
  });
  serve(
    app,
    CHANGE,
    change(context, 200, (tx, act, request) => updateBeneficiary(tx, act, request.params.beneficiary_id, request.body)),
  );
}
