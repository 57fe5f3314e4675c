import { createHash, type Hash } from 'node:crypto';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { Context } from '../../context.ts';
import type { Transaction } from '../../database.ts';
import { Problem } from '../../errors.ts';
import { checkClient } from '../../identity/client-rules.ts';
import { MAX_ERRORS } from '../../imports/answer.ts';
import { beneficiaryImport } from '../../imports/beneficiaries.ts';
import { clientImport } from '../../imports/clients.ts';
import { contactImport } from '../../imports/contacts.ts';
import { LONG_IMPORT_MS, limitHeapGrowth } from '../../imports/heap-growth.ts';
import { importLines } from '../../imports/importer.ts';
import { claimImport, releaseImport } from '../../imports/key.ts';
import type { ImportKind } from '../../imports/kind.ts';
import { paymentImport } from '../../imports/payments.ts';
import { tradeImport } from '../../imports/trades.ts';
import { transactionImport } from '../../imports/transactions.ts';
import { checkSameRequest, storeAnswer } from '../../operator/idempotency.ts';
import { hasApprovalFields, requireScopes, type Scope } from '../../operator/scope.ts';
import { confirmOperatorToken } from '../../operator/token.ts';
import { PAYMENT_STATUSES } from '../../payments/moves.ts';
import { presentationOf } from '../../payments/presentation.ts';
import { toProblem } from '../problem.ts';
import { sendJson } from '../reply.ts';
import { errors, Instant, jsonAnswer, Nullable, RandomUuid, Text } from '../schemas.ts';
import { explain, keepDigits } from '../validation.ts';
import { BeneficiaryBody } from './beneficiaries.ts';
import { idempotencyKey, operatorAct } from './change.ts';
import { ClientBody } from './clients.ts';
import { ContactBody } from './contacts.ts';
import { importBody } from './import-body.ts';
import { ImportSlots } from './import-slots.ts';
import { PaymentFields } from './payments.ts';
import { TradeBody } from './trades.ts';
import { TransactionBody } from './transactions.ts';

const moment = (description: string) => Type.Optional(Nullable(Instant(`${description}; or a day`)));
const who = (description: string) => Type.Optional(Nullable(Text(description, 128)));

/** A payment as the core has it. */
const ImportedPaymentBody = Type.Object(
  {
    ...PaymentFields,
    status: Type.Optional(Type.Enum([...PAYMENT_STATUSES])),
    uuid: Type.Optional(RandomUuid('Version 4, the SWIFT UETR; set once; default: a new one')),
    created_date: Type.Optional(Instant('When it was created; or a day; default: now')),
    authorised_by: who('Who authorised it'),
    authorised_date: moment('When'),
    cancelled_by: who('Who cancelled it'),
    cancelled_date: moment('When'),
    rejected_by: who('Who rejected it'),
    rejected_date: moment('When'),
    sent_date: moment('When it was sent; default: its payment date, if its status says that it was sent'),
  },
  { additionalProperties: false },
);

interface Importable {
  // biome-ignore lint/suspicious/noExplicitAny: the shape of a kind's records is checked by its schema, at run time
  kind: ImportKind<any, any>;
  schema: TSchema;
}

const KINDS: Record<string, Importable> = {
  clients: { kind: clientImport, schema: ClientBody },
  contacts: { kind: contactImport, schema: ContactBody },
  beneficiaries: { kind: beneficiaryImport, schema: BeneficiaryBody },
  trades: { kind: tradeImport, schema: TradeBody },
  payments: { kind: paymentImport, schema: ImportedPaymentBody },
  transactions: { kind: transactionImport, schema: TransactionBody },
};

const ImportQuery = Type.Object({
  on_error: Type.Optional(
    Type.Enum(['continue', 'stop'], {
      description: 'stop: end at the first rejected line',
      default: 'continue',
    }),
  ),
  notify: Type.Optional(
    Type.Boolean({ description: 'Send the notifications that single calls cause', default: false }),
  ),
});
const ImportAnswer = Type.Object({
  accepted: Type.Integer({ description: 'Lines that were imported' }),
  rejected: Type.Integer({ description: 'Lines that were not' }),
  errors: Type.Array(
    Type.Object({
      line: Type.Integer({ description: 'From 1' }),
      code: Type.String(),
      message: Type.String(),
      details: Type.String(),
    }),
    { description: `The first ${MAX_ERRORS}` },
  ),
});

interface ImportRoute {
  Params: { kind: string };
  Querystring: { on_error?: string; notify?: boolean };
  Body: NodeJS.ReadableStream | undefined;
}

/** One import that waits or runs. */
interface ImportCall {
  request: FastifyRequest<ImportRoute>;
  reply: FastifyReply;
  importable: Importable;
  body: AsyncIterable<Buffer>;
}

const IMPORT = {
  config: {
    stream: true,
    scopesOf: ({ params }: FastifyRequest): Scope[] =>
      (params as { kind: string }).kind === 'contacts' ? ['identity'] : ['feed'],
  },
  schema: {
    operationId: 'importRecords',
    tags: ['imports'],
    summary: 'Import records, one JSON record a line',
    description:
      'NDJSON (application/x-ndjson), also compressed (content-encoding: gzip). Each line has the shape of the single call; ' +
      'payments may also carry status, uuid and their dates.',
    params: Type.Object({ kind: Type.String({ description: Object.keys(KINDS).join(', ') }) }),
    querystring: ImportQuery,
    response: {
      200: jsonAnswer('What was imported, and what was not', ImportAnswer),
      ...errors(400, 404, 408, 409, 413, 415, 502),
    },
  },
};

/** POST /imports/{kind}: NDJSON of any length, a record a line (docs/imports.md). */
export function operatorImportRoutes(app: FastifyInstance, context: Context): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, stream, done) => done(null, stream));
  const slots = new ImportSlots();

  app.post<ImportRoute>('/imports/:kind', IMPORT, async (request, reply) => {
    const importable = Object.hasOwn(KINDS, request.params.kind) ? KINDS[request.params.kind] : undefined;
    if (!importable) throw new Problem('not_found', `path.kind: must be one of ${Object.keys(KINDS).join(', ')}`);
    const body = request.body === undefined ? nothing() : importBody(request, request.body);
    return slots.take(reply, () => run(context, { request, reply, importable, body }));
  });
}

async function* nothing(): AsyncGenerator<Buffer> {}

async function run(context: Context, { request, reply, importable, body }: ImportCall): Promise<FastifyReply> {
  const key = idempotencyKey(request);
  const hash = createHash('sha256').update(`${request.method} ${request.url}\n`);
  const source = hashed(body, hash);
  const connection = await context.backgroundPool.connect();
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  connection.on('error', onError);
  try {
    const known = key === undefined ? undefined : await claimImport(connection, context.vault, key, request.now);
    if (known) {
      for await (const _ of source) void _;
      checkSameRequest(known, hash.digest());
      return sendJson(reply.code(known.status).header('idempotency-replayed', 'true'), known.body);
    }
    const wanted = {
      kind: importable.kind,
      scope: {
        act: operatorAct(request),
        vault: context.vault,
        presentation: presentationOf(context),
        notify: request.query.notify ?? false,
      },
      stop: request.query.on_error === 'stop',
      confirm: (tx: Transaction) => confirmOperatorToken(tx, request.operator, context.clock.now()),
      checkShape: shapeCheck(request, context, importable),
      place: 'body',
      toProblem,
    };
    const answer = await limitHeapGrowth(() => importLines(connection, source, wanted), LONG_IMPORT_MS);
    // An import that stopped early has not read its whole body. Only a connection whose body was read can be used again.
    for await (const _ of source) void _;
    const text = JSON.stringify(answer);
    if (key !== undefined)
      await storeAnswer(connection, context.vault, { key, sha256: hash.digest() }, { status: 200, body: text });
    return sendJson(reply, text);
  } finally {
    if (key !== undefined && !broken) await releaseImport(connection, key).catch(onError);
    connection.off('error', onError);
    connection.release(broken);
  }
}

/** The same stream, hashed as it is read. Its reader may leave before the end and return. */
function hashed(source: AsyncIterable<Buffer>, hash: Hash): AsyncIterable<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  const next = async () => {
    const result = await chunks.next();
    if (!result.done) hash.update(result.value);
    return result;
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

/** The validator of the single call's route, with the same messages. */
function shapeCheck(
  request: FastifyRequest,
  context: Context,
  { kind, schema }: Importable,
): (record: unknown) => void {
  const valid = request.compileValidationSchema(schema as Record<string, unknown>, 'body');
  return (record) => {
    if (!valid(record))
      throw explain({ validation: valid.errors, validationContext: 'body' } as unknown as FastifyError);
    keepDigits(schema, record);
    if (kind !== clientImport) return;
    if (hasApprovalFields(record as object)) requireScopes(request.operator, ['approvals']);
    checkClient(record as object, context.config.environment);
  };
}
