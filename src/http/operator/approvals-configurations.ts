import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { readConfiguration } from '../../approvals/configuration.ts';
import type { Context } from '../../context.ts';
import { findClient } from '../../identity/people/client.ts';
import { ClientId, Nullable } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { sendValue } from '../schemas/reply.ts';
import { errors, idPath, jsonAnswer } from '../schemas/schemas.ts';
import { READ } from './listener.ts';

const Configuration = Type.Object(
  {
    client_id: ClientId,
    version: Type.Integer({ description: '0: none; then the eyes workflow governs' }),
    groups: Type.Array(
      Type.Object({
        name: Type.String(),
        scope: Type.String(),
        users: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), email: Type.String() })),
      }),
    ),
    ruleset: Nullable(
      Type.Object({
        currency: Type.String(),
        rules: Type.Array(
          Type.Object({
            minimum_threshold: Nullable(Type.Number()),
            groups: Type.Array(Type.Object({ one_of: Type.Array(Type.Object({ all_of: Type.Array(Type.String()) })) })),
          }),
        ),
      }),
    ),
  },
  {
    title: 'ApprovalConfiguration',
    examples: [{ client_id: 'CLI000001', version: 0, groups: [], ruleset: null }],
  },
);

const READ_ONE = operation('GET /approvals-configurations/{client_id}', {
  config: READ,
  schema: {
    tags: ['clients'],
    operationId: 'getApprovalConfiguration',
    summary: "Read a client's approvals configuration in force",
    params: idPath('client_id'),
    response: { 200: jsonAnswer('The configuration', Configuration), ...errors(403, 404, 502, 'client_not_found') },
  },
});

export type ApprovalsConfigurationOperations = typeof READ_ONE;

/** The approvals configurations. Clients set them themselves (docs/operator-interface.md). */
export function operatorApprovalsConfigurationRoutes(app: FastifyInstance, { pool }: Context): void {
  serve(app, READ_ONE, async ({ params }, reply) => {
    const { client_id: clientId } = await findClient(pool, params.client_id);
    const { version, shown } = await readConfiguration(pool, clientId);
    return sendValue(reply, { client_id: clientId, version, ...shown });
  });
}
