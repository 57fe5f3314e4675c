import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { checkClient } from '../../identity/people/client.ts';
import type { ConflictRule } from '../../imports/conflicts.ts';
import { findImport, IMPORT_STATES, listImports, MAX_ERRORS } from '../../imports/import.ts';
import { beneficiaryImport } from '../../imports/kinds/beneficiaries.ts';
import { clientImport } from '../../imports/kinds/clients.ts';
import { contactImport } from '../../imports/kinds/contacts.ts';
import { type PaymentActionLine, paymentActionImport } from '../../imports/kinds/payment-actions.ts';
import { paymentImport } from '../../imports/kinds/payments.ts';
import { tradeImport } from '../../imports/kinds/trades.ts';
import { transactionImport } from '../../imports/kinds/transactions.ts';
import type { Operator } from '../../operator/operator.ts';
import { hasApprovalFields, requireScopes } from '../../operator/scope.ts';
import { IMPORTED_FIELDS } from '../../payments/declaration.ts';
import { Problem } from '../../values/errors.ts';
import { isUuid } from '../../values/identifiers.ts';
import { closed, Nullable } from '../../values/schemas.ts';
import { fieldsOf } from '../../values/unknown.ts';
import { operation, serve } from '../schemas/operation.ts';
import { sendList, sendValue } from '../schemas/reply.ts';
import { errors, jsonAnswer, listRequest, Paging, TOTAL_COUNT, uuidPath } from '../schemas/schemas.ts';
import { BeneficiaryLine } from './beneficiaries.ts';
import { ClientBody } from './clients.ts';
import { ContactBody } from './contacts.ts';
import { importBody, noBody } from './import-body.ts';
import { type Importable, ImportQuery, type ImportRoute, runImport } from './import-run.ts';
import { ImportSlots } from './import-slots.ts';
import { Stopping } from './import-stopping.ts';
import { READ } from './listener.ts';
import { ActionFields } from './payments.ts';
import { TradeBody } from './trades.ts';
import { TransactionBody } from './transactions.ts';

/** A payment in the form of the core system. */
const ImportedPaymentBody = Type.Object(IMPORTED_FIELDS, closed);

/** An action on a payment. */
const ActionLine = Type.Object({ payment_id: Type.String({ minLength: 1 }), ...ActionFields }, closed);

/** Each kind, with the schema of its lines. */
const KINDS: Record<string, Importable & { line: string }> = {
  clients: {
    kind: clientImport,
    schema: ClientBody,
    checkLine: checkClientLine,
    line: 'each as the body of POST /clients',
  },
  contacts: { kind: contactImport, schema: ContactBody, line: 'each as the body of POST /contacts' },
  beneficiaries: {
    kind: beneficiaryImport,
    schema: BeneficiaryLine,
    line: 'each as the body of POST /beneficiaries, and optionally version',
  },
  trades: { kind: tradeImport, schema: TradeBody, line: 'each as the body of POST /trades' },
  payments: {
    kind: paymentImport,
    schema: ImportedPaymentBody,
    line: 'each as the body of POST /payments, and optionally status, uuid and dates',
  },
  transactions: { kind: transactionImport, schema: TransactionBody, line: 'each as the body of POST /transactions' },
  'payment-actions': {
    kind: paymentActionImport,
    schema: ActionLine,
    notifies: true,
    checkLine: checkActionLine,
    line: 'each as the body of POST /payments/{payment_id}/actions, with payment_id',
  },
};

function checkActionLine(record: object, operator: Operator): void {
  const { action } = record as PaymentActionLine;
  if (action === 'authorise' || action === 'reject') requireScopes(operator, ['approvals']);
}

function checkClientLine(record: object, operator: Operator, { config }: Context): void {
  if (hasApprovalFields(record)) requireScopes(operator, ['approvals']);
  checkClient(record, config.environment);
}

const ImportErrors = Type.Array(
  Type.Object({
    line: Type.Integer({ description: 'From 1' }),
    code: Type.String(),
    message: Type.String(),
    details: Type.String(),
  }),
  { description: `The first ${MAX_ERRORS}` },
);
const Counts = {
  accepted: Type.Integer({ description: 'Lines that were imported' }),
  unchanged: Type.Integer({ description: 'Lines whose record was there already, with the same content' }),
  rejected: Type.Integer({ description: 'Lines that were not imported' }),
};
const ImportAnswer = Type.Object(
  { ...Counts, unchanged: Type.Optional(Counts.unchanged), errors: ImportErrors },
  { title: 'ImportAnswer', examples: [{ accepted: 2, rejected: 0, errors: [] }] },
);
const ImportFields = {
  import_id: Type.String({ format: 'uuid' }),
  kind: Type.Enum(Object.keys(KINDS)),
  state: Type.Enum([...IMPORT_STATES]),
  lines_read: Type.Integer({ description: 'The last line that is committed, with all before it' }),
  ...Counts,
  started_at: Type.String({ format: 'date-time' }),
  ended_at: Nullable(Type.String({ format: 'date-time', description: 'Null while it runs' })),
};
const IMPORT_EXAMPLE = {
  import_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
  kind: 'payments',
  state: 'interrupted',
  lines_read: 12_000,
  accepted: 12_000,
  unchanged: 0,
  rejected: 0,
  started_at: '2026-11-21T10:00:00.000Z',
  ended_at: '2026-11-21T10:00:07.000Z',
};
const Import = Type.Object(
  { ...ImportFields, errors: ImportErrors },
  { title: 'Import', examples: [{ ...IMPORT_EXAMPLE, errors: [] }] },
);
const ImportSummary = Type.Object(ImportFields, { title: 'ImportSummary', examples: [IMPORT_EXAMPLE] });
const ImportList = Type.Object({
  ...Paging,
  kind: Type.Optional(Type.Enum(Object.keys(KINDS))),
  state: Type.Optional(Type.Enum([...IMPORT_STATES])),
});

/** The operation of a kind. Each kind has an address of its own, because OpenAPI cannot distinguish /imports/{kind} from /imports/{import_id}. */
function operationOf(kind: string) {
  const noun = kind.replace('-', ' ');
  return {
    config: {
      stream: true,
      describedBody: {
        'application/x-ndjson': {
          schema: { type: 'string' as const, description: `A JSON record a line; ${KINDS[kind]?.line}` },
        },
      },
      scope: kind === 'contacts' ? ('identity' as const) : ('feed' as const),
    },
    schema: {
      operationId: `import${noun.replace(/(^| )./g, (start) => start.trim().toUpperCase())}`,
      tags: ['imports'],
      summary: `Import ${noun}, one JSON record a line`,
      description: `NDJSON (application/x-ndjson), also compressed (content-encoding: gzip); ${KINDS[kind]?.line}.`,
      querystring: ImportQuery,
      response: {
        200: jsonAnswer('What was imported, and what was not', ImportAnswer, {
          'import-id': { type: 'string', format: 'uuid', description: 'For GET /imports/{import_id}' },
        }),
        ...errors('invalid_body', 'request_timeout', 'payload_too_large', 'unsupported_media_type', 'interrupted', 502),
      },
    },
  };
}

/** Lists the kinds for a caller who asks for an unknown one. */
const UNKNOWN_KIND = { config: { refuses: true, stream: true, scope: 'read' as const }, schema: { hide: true } };

const READ_ONE = operation('GET /imports/{import_id}', {
  config: READ,
  schema: {
    operationId: 'getImport',
    tags: ['imports'],
    summary: 'Read the progress of an import',
    params: uuidPath('import_id', 'Import'),
    response: {
      200: jsonAnswer('The import, its counts over all runs', Import),
      ...errors(403, 404, 502, 'import_not_found'),
    },
  },
});

const LIST = operation('GET /imports', {
  config: READ,
  schema: {
    operationId: 'listImports',
    tags: ['imports'],
    summary: 'List imports, the newest first',
    querystring: ImportList,
    response: {
      200: jsonAnswer('A page of imports, without their errors', Type.Array(ImportSummary), TOTAL_COUNT),
      ...errors(400, 403, 502),
    },
  },
});

export type ImportOperations = typeof READ_ONE | typeof LIST;

/** POST /imports/{kind}, which takes NDJSON of any length with one record in each line, and the results of imports (docs/imports.md). */
export function operatorImportRoutes(app: FastifyInstance, context: Context): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, stream, done) => done(null, stream));
  const stopping = new Stopping(app, context.patience);
  const slots = new ImportSlots(stopping, context.patience);

  for (const [name, importable] of Object.entries(KINDS))
    app.post<ImportRoute>(`/imports/${name}`, operationOf(name), async (request, reply) => {
      checkRule(request.query.on_conflict ?? 'reject', importable);
      if (request.body === undefined) throw noBody();
      const body = stopping.until(importBody(request, request.body, context.patience));
      return slots.take(reply, () => runImport(context, { request, reply, name, importable, body }));
    });
  app.post<{ Params: { kind: string } }>('/imports/:kind', UNKNOWN_KIND, (request, reply) => {
    if (isUuid(request.params.kind)) return reply.callNotFound();
    throw new Problem('not_found', `path.kind: must be one of ${Object.keys(KINDS).join(', ')}`);
  });
  serve(app, LIST, async ({ query }, reply) => {
    const { kind, state } = query;
    return sendList(reply, await listImports(context.pool, { ...listRequest(query), kind, state }));
  });
  serve(app, { ...READ_ONE, preHandler: refuseKind }, async (request, reply) =>
    sendValue(reply, await findImport(context.pool, request.params.import_id)),
  );
}

/** The address of a kind accepts only lines. Reading it is answered with 405. */
function refuseKind(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (Object.hasOwn(KINDS, String(fieldsOf(request.params).import_id))) reply.callNotFound();
  else done();
}

/** @throws Problem invalid_parameter if the kind does not support the rule */
function checkRule(rule: ConflictRule, { kind }: Importable): void {
  if (rule === 'reject' || (rule === 'skip' ? kind.comparison : kind.update)) return;
  const of = Object.keys(KINDS).filter((name) => KINDS[name]?.kind[rule === 'skip' ? 'comparison' : 'update']);
  throw new Problem('invalid_parameter', `query.on_conflict: ${rule} is for ${of.join(', ')}`);
}
