import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { MASS_PAYMENT, MASS_STATUSES } from '../../orders/mass/declaration.ts';
import { findMassPayment, listErrored, listMassPayments } from '../../orders/mass/reading.ts';
import { UuidOfRecord } from '../../values/schemas.ts';
import { INVALID_INSTRUCTION } from '../schemas/instruction.ts';
import { operation, serve } from '../schemas/operation.ts';
import { sendJson, sendList, sendValue } from '../schemas/reply.ts';
import {
  ClientPageQuery,
  errors,
  jsonAnswer,
  listAnswer,
  listRequest,
  PageQuery,
  TOTAL_COUNT,
  uuidPath,
} from '../schemas/schemas.ts';
import { READ } from './listener.ts';

const Shown = Type.Object(MASS_PAYMENT.shown, { title: 'MassPaymentRecord', examples: [MASS_PAYMENT.example] });
const Path = uuidPath('mass_payment_id', 'Unique identifier of the mass payment');

const LIST = operation('GET /mass-payments', {
  config: READ,
  schema: {
    operationId: 'listMassPayments',
    tags: ['mass payments'],
    summary: 'List mass payments, the newest first',
    querystring: Type.Object({
      ...ClientPageQuery.properties,
      mass_payment_id: Type.Optional(UuidOfRecord('Only this one')),
      external_reference_id: Type.Optional(Type.String({ description: 'Only those with this reference' })),
      mass_payment_status: Type.Optional(Type.Enum([...MASS_STATUSES], { description: 'Only those with this status' })),
    }),
    response: { 200: listAnswer('A page of mass payments', Shown), ...errors(400, 502) },
  },
});

const READ_ONE = operation('GET /mass-payments/{mass_payment_id}', {
  config: READ,
  schema: {
    operationId: 'getMassPayment',
    tags: ['mass payments'],
    summary: 'Read a mass payment',
    params: Path,
    response: { 200: jsonAnswer('The mass payment', Shown), ...errors(404, 502, 'mass_payment_not_found') },
  },
});

const ERRORED = operation('GET /mass-payments/{mass_payment_id}/errors', {
  config: READ,
  schema: {
    operationId: 'listMassPaymentErrors',
    tags: ['mass payments'],
    summary: 'List the rows of a mass payment that cannot be done',
    params: Path,
    querystring: PageQuery,
    response: {
      200: jsonAnswer('A page of rows with what is wrong with them', Type.Array(INVALID_INSTRUCTION), TOTAL_COUNT),
      ...errors(400, 404, 502, 'mass_payment_not_found'),
    },
  },
});

export type MassPaymentOperations = typeof LIST | typeof READ_ONE | typeof ERRORED;

/** The mass payments of clients (docs/operator-interface.md). */
export function operatorMassPaymentRoutes(app: FastifyInstance, { pool }: Context): void {
  serve(app, LIST, async ({ query }, reply) =>
    sendList(
      reply,
      await listMassPayments(pool, {
        ...{ ...listRequest(query), massPaymentId: query.mass_payment_id, status: query.mass_payment_status },
        externalReferenceId: query.external_reference_id,
      }),
    ),
  );
  serve(app, READ_ONE, async ({ params }, reply) =>
    sendValue(reply, await findMassPayment(pool, params.mass_payment_id)),
  );
  serve(app, ERRORED, async ({ params, query }, reply) => {
    const { page, pageSize } = listRequest(query);
    const { client_id: clientId } = await findMassPayment(pool, params.mass_payment_id);
    const { texts, total } = await listErrored(pool, { clientId, id: params.mass_payment_id, page, pageSize });
    return sendJson(reply.header('x-total-count', total), `[${texts.join(',')}]`);
  });
}
