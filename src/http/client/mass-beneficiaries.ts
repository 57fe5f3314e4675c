import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { listMassBeneficiaryErrors } from '../../orders/mass-beneficiary-errors.ts';
import { ClientId, UuidOfRecord } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { errors, jsonAnswer, listRequest, Paging, TOTAL_COUNT } from '../schemas/schemas.ts';

const Path = Type.Object({
  mass_beneficiary_id: UuidOfRecord('Unique identifier of the instruction', {
    examples: ['5b0c1f0e-6a3e-4a5e-9a53-0a3f3a7c1d11'],
  }),
});
const Query = Type.Object({ client_id: ClientId, ...Paging });

const ErrorRecord = Type.Object(
  {
    code: Type.String(),
    message: Type.String(),
    details: Type.String(),
    request_index: Type.Integer({ description: 'Place of the beneficiary in the instruction' }),
  },
  {
    title: 'MassBeneficiaryError',
    examples: [
      {
        code: 'invalid_iban',
        message: 'The IBAN is not valid',
        details: 'beneficiaries[17].iban: the check digits do not match',
        request_index: 17,
      },
    ],
  },
);

const LIST_ERRORS = operation('GET /mass-beneficiaries/{mass_beneficiary_id}/errors', {
  schema: {
    operationId: 'listMassBeneficiaryErrors',
    tags: ['mass beneficiaries'],
    summary: 'List the errors of a mass-beneficiaries instruction',
    description:
      'The beneficiaries that could not be created, in the order in which they were reported. While the status of the ' +
      'instruction is not `created`, the list can be empty or incomplete.',
    params: Path,
    querystring: Query,
    response: {
      200: jsonAnswer('A page of errors', Type.Array(ErrorRecord), TOTAL_COUNT),
      ...errors(400, 403, 404, 502, 'mass_beneficiary_not_found'),
    },
  },
});

/** GET /mass-beneficiaries/{mass_beneficiary_id}/errors (the service interface; docs/decisions.md, 3). */
export function massBeneficiaryRoutes(app: FastifyInstance, context: Context): void {
  serve(app, LIST_ERRORS, async (request, reply) => {
    const { clientId } = request.caller;
    const list = await listMassBeneficiaryErrors(
      context.pool,
      { clientId, id: request.params.mass_beneficiary_id },
      listRequest(request.query),
    );
    return reply.header('x-total-count', list.total).send(list.rows);
  });
}
