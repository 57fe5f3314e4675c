import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import {
  listVersions,
  readApprovalSettings,
  readConfiguration,
  replaceConfiguration,
} from '../../approvals/configuration.ts';
import { checkSamples, dryRun } from '../../approvals/dry-run.ts';
import { explainApproval } from '../../approvals/explanation.ts';
import type { Context } from '../../context.ts';
import { transaction } from '../../database/database.ts';
import { Problem } from '../../values/errors.ts';
import { ClientId } from '../../values/schemas.ts';
import { PaymentPath } from '../schemas/payment-schema.ts';
import { sendJson } from '../schemas/reply.ts';
import { ClientQuery, errors, jsonAnswer, MAX_PAGE, Paging, TOTAL_COUNT } from '../schemas/schemas.ts';
import { Configuration, DryRun, Explanation, Settings, Version, WrittenConfiguration } from './approvals-schema.ts';
import { answerChange } from './change.ts';

const ConfigQuery = Type.Object({
  client_id: ClientId,
  version: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_PAGE, description: 'An earlier version; default: the version in force' }),
  ),
});
const WriteQuery = Type.Object({
  client_id: ClientId,
  dry_run: Type.Optional(
    Type.Boolean({ description: 'Check only, and answer who would have to approve `sample_amounts`' }),
  ),
});
const VersionsQuery = Type.Object({ client_id: ClientId, ...Paging });

const CONFIGURATION_VERSION = {
  'x-configuration-version': {
    type: 'integer',
    description: 'The version; 0 if there is no configuration',
    example: 3,
  },
};
const tags = ['approvals'];

const READ_SETTINGS = {
  schema: {
    operationId: 'getApprovalSettings',
    tags,
    summary: 'Read the approvals settings',
    querystring: ClientQuery,
    response: { 200: jsonAnswer('The settings', Settings), ...errors(400, 403, 404, 502) },
  },
};

const READ_CONFIGURATION = {
  schema: {
    operationId: 'getApprovalConfiguration',
    tags,
    summary: 'Read the approvals configuration',
    description:
      'The configuration in force, in the shape that POST takes. Without a configuration: no groups, and `ruleset` null.',
    querystring: ConfigQuery,
    response: {
      200: jsonAnswer('The configuration', Configuration, CONFIGURATION_VERSION),
      ...errors(400, 403, 404, 502),
    },
  },
};

const LIST_VERSIONS = {
  schema: {
    operationId: 'listApprovalConfigurationVersions',
    tags,
    summary: 'List the versions of the approvals configuration',
    description: 'The newest first, with its author and its date.',
    querystring: VersionsQuery,
    response: { 200: jsonAnswer('The versions', Type.Array(Version), TOTAL_COUNT), ...errors(400, 403, 404, 502) },
  },
};

const REPLACE_CONFIGURATION = {
  config: { permission: 'can_manage_permissions' as const },
  // The domain checks the body, because its messages name rules, levels and groups. checkQuery checks the types in the query.
  validatorCompiler: () => () => true,
  preValidation: refuseTextThresholds,
  schema: {
    operationId: 'replaceApprovalConfiguration',
    tags,
    summary: 'Replace the approvals configuration',
    description:
      'Replaces the whole configuration with a new version. It governs payments that are created from now on; existing payments ' +
      'keep their version. With `dry_run=true` the service only checks it, and answers who would have to approve sample amounts.',
    querystring: WriteQuery,
    body: WrittenConfiguration,
    response: {
      200: jsonAnswer(
        'The updated configuration; the result of a dry run where `dry_run` is true',
        Type.Union([Configuration, DryRun]),
        CONFIGURATION_VERSION,
      ),
      ...errors(400, 403, 404, 413, 415, 502, 'ruleset_unsatisfiable', 'exchange_rate_missing'),
    },
  },
};

const EXPLAIN = {
  schema: {
    operationId: 'explainApproval',
    tags,
    summary: "Explain a payment's approvals",
    description:
      'The rule that governs it, the rate that converted its amount, who met which levels, and who can act next.',
    params: PaymentPath,
    querystring: ClientQuery,
    response: { 200: jsonAnswer('The explanation', Explanation), ...errors(400, 403, 404, 502, 'payment_not_found') },
  },
};

/** The approvals workflow of a client (service interface; docs/decisions.md, 4; docs/approvals.md). */
export function approvalRoutes(app: FastifyInstance, context: Context): void {
  const { pool } = context;

  app.get('/approvals-workflow/settings', READ_SETTINGS, async (request, reply) => {
    return sendJson(reply, JSON.stringify(await readApprovalSettings(pool, request.caller.clientId)));
  });

  app.get<{ Querystring: Static<typeof ConfigQuery> }>(
    '/approvals-workflow/config',
    READ_CONFIGURATION,
    async (request, reply) => {
      const found = await readConfiguration(pool, request.caller.clientId, request.query.version);
      return sendJson(reply.header('x-configuration-version', found.version), JSON.stringify(found.shown));
    },
  );

  app.get<{ Querystring: { page: number; page_size: number } }>(
    '/approvals-workflow/config/versions',
    LIST_VERSIONS,
    async (request, reply) => {
      const { page, page_size: size } = request.query;
      const list = await listVersions(pool, request.caller.clientId, { page, pageSize: size });
      return sendJson(reply.header('x-total-count', list.total), JSON.stringify(list.rows));
    },
  );

  app.post<{ Querystring: Static<typeof WriteQuery> }>(
    '/approvals-workflow/config',
    REPLACE_CONFIGURATION,
    async (request, reply) => {
      const { clientId } = request.caller;
      if (request.query.dry_run) return sendJson(reply, JSON.stringify(await dryRun(pool, clientId, request.body)));
      return answerChange(context, request, reply, async (tx, act) => {
        const { version, shown } = await replaceConfiguration(tx, act, clientId, request.body);
        checkSamples(request.body);
        return { status: 200, body: JSON.stringify(shown), headers: { 'x-configuration-version': String(version) } };
      });
    },
  );

  app.get<{ Params: Static<typeof PaymentPath> }>(
    '/payments/:payment_id/approvals',
    EXPLAIN,
    async (request, reply) => {
      const { payment_id: id } = request.params;
      const explained = await transaction(pool, (tx) => explainApproval(tx, request.caller.clientId, id));
      return sendJson(reply, JSON.stringify(explained));
    },
  );
}

/** Refuses a threshold that is a text. After the digits of numbers have been kept (server.ts), the domain cannot tell texts from numbers. */
function refuseTextThresholds(request: FastifyRequest, _reply: unknown, done: (fault?: Error) => void): void {
  const { ruleset } = (request.body ?? {}) as { ruleset?: { rules?: unknown } | null };
  const rules = Array.isArray(ruleset?.rules) ? ruleset.rules : [];
  const index = rules.findIndex((rule) => typeof rule?.minimum_threshold === 'string');
  const field = `ruleset.rules[${index}].minimum_threshold`;
  done(index < 0 ? undefined : new Problem('invalid_body', { field, message: 'must be a number, not a text' }));
}
