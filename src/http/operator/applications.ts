import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import {
  APPLICATION,
  createApplication,
  findApplication,
  listApplications,
  MAX_SECRET_OVERLAP_SECONDS,
  rotateSecret,
  updateApplication,
} from '../../identity/applications/application.ts';
import { closed } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { sendList } from '../schemas/reply.ts';
import { errors, idPath, jsonAnswer, listAnswer, listRequest, PageQuery, Status } from '../schemas/schemas.ts';
import { allowNoBody } from '../server/body.ts';
import { change } from './change.ts';
import { IDENTITY, READ } from './listener.ts';

const ApplicationBody = Type.Object(APPLICATION.given(), {
  ...closed,
  title: 'ApplicationInput',
  examples: [{ name: 'Treasury desk', redirect_uris: ['https://treasury.example/callback'] }],
});
const ApplicationPatch = Type.Partial(Type.Object(APPLICATION.changed), { ...closed, title: 'ApplicationPatch' });

const SecretBody = Type.Object(
  { overlap_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_SECRET_OVERLAP_SECONDS })) },
  { ...closed, title: 'SecretRotation', examples: [{ overlap_seconds: 3_600 }] },
);
const APPLICATION_EXAMPLE = {
  client_id: 'APP000001',
  name: 'Treasury desk',
  redirect_uris: ['https://treasury.example/callback'],
  post_logout_redirect_uris: [],
  refresh_token_days: 28,
  headless_sign_in: true,
  require_pkce: false,
  public_client: false,
  status: 'enabled',
  certificate_subjects: [],
  trusted_clients: [],
};
const Application = Type.Object(APPLICATION.shown, { title: 'Application', examples: [APPLICATION_EXAMPLE] });
const CreatedApplication = Type.Object(
  { ...APPLICATION.shown, client_secret: Type.String() },
  {
    title: 'CreatedApplication',
    examples: [{ ...APPLICATION_EXAMPLE, client_secret: 'Zb3kV1x7o2h0T0mO6Rk1c2s3q4w5e6r7t8y9u0i1o2p' }],
  },
);
const ApplicationSecret = Type.Object(
  {
    client_id: Type.String(),
    client_secret: Type.String(),
    overlap_seconds: Type.Integer({ description: 'Seconds for which the old secret still works' }),
  },
  {
    title: 'ApplicationSecret',
    examples: [
      {
        client_id: 'APP000001',
        client_secret: 'Zb3kV1x7o2h0T0mO6Rk1c2s3q4w5e6r7t8y9u0i1o2p',
        overlap_seconds: 3_600,
      },
    ],
  },
);

const CREATE = operation('POST /applications', {
  config: { ...IDENTITY, location: '/applications/{client_id}' },
  schema: {
    operationId: 'createApplication',
    tags: ['applications'],
    summary: 'Register an application',
    body: ApplicationBody,
    response: {
      201: jsonAnswer('The application with its secret, which is shown once', CreatedApplication),
      ...errors(400, 404, 409, 502, 'client_not_found', 'already_exists'),
    },
  },
});

const LIST = operation('GET /applications', {
  config: READ,
  schema: {
    operationId: 'listApplications',
    tags: ['applications'],
    summary: 'List applications',
    querystring: Type.Object({ ...PageQuery.properties, status: Type.Optional(Status) }),
    response: { 200: listAnswer('A page of applications', Application), ...errors(400, 502) },
  },
});

const READ_ONE = operation('GET /applications/{client_id}', {
  config: READ,
  schema: {
    operationId: 'getApplication',
    tags: ['applications'],
    summary: 'Read an application',
    params: idPath('client_id'),
    response: { 200: jsonAnswer('The application', Application), ...errors(404, 502, 'application_not_found') },
  },
});

const CHANGE = operation('PATCH /applications/{client_id}', {
  config: IDENTITY,
  schema: {
    operationId: 'updateApplication',
    tags: ['applications'],
    summary: 'Change an application',
    params: idPath('client_id'),
    body: ApplicationPatch,
    response: { 200: jsonAnswer('The application', Application), ...errors(400, 404, 502, 'application_not_found') },
  },
});

const ROTATE_SECRET = operation('POST /applications/{client_id}/secret', {
  config: IDENTITY,
  preValidation: allowNoBody,
  schema: {
    operationId: 'rotateApplicationSecret',
    tags: ['applications'],
    summary: 'Create a new secret',
    description:
      'The old secret stays valid for `overlap_seconds`, and earlier ones for theirs. Without an overlap, only the new secret is valid.',
    params: idPath('client_id'),
    body: SecretBody,
    response: {
      201: jsonAnswer('The new secret, which is shown once', ApplicationSecret),
      ...errors(400, 404, 502, 'application_not_found'),
    },
  },
});

export type ApplicationOperations =
  | typeof CREATE
  | typeof LIST
  | typeof READ_ONE
  | typeof CHANGE
  | typeof ROTATE_SECRET;

/** Applications: the programs that sign contacts in (docs/operator-interface.md). */
export function operatorApplicationRoutes(app: FastifyInstance, context: Context): void {
  const { pool, vault } = context;
  serve(
    app,
    CREATE,
    change(context, 201, (tx, act, request) => createApplication(tx, act, vault, request.body)),
  );
  serve(app, LIST, async ({ query }, reply) =>
    sendList(reply, await listApplications(pool, { ...listRequest(query), status: query.status })),
  );
  serve(app, READ_ONE, (request) => findApplication(pool, request.params.client_id));
  serve(
    app,
    CHANGE,
    change(context, 200, (tx, act, request) => updateApplication(tx, act, request.params.client_id, request.body)),
  );
  serve(
    app,
    ROTATE_SECRET,
    change(context, 201, async (tx, act, request) => {
      const { overlap_seconds: overlap = 0 } = request.body;
      const secret = await rotateSecret(tx, act, vault, {
        clientId: request.params.client_id,
        overlapSeconds: overlap,
      });
      return { client_id: request.params.client_id, client_secret: secret, overlap_seconds: overlap };
    }),
  );
}
