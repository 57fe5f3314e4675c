import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, type TObject, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { connect, type Transaction, transaction, transactionOn } from '../../database/database.ts';
import { databaseFault } from '../../database/fault.ts';
import { TradeMemory } from '../../exchange/trade-memory.ts';
import { CONFLICT_RULES } from '../../imports/conflicts.ts';
import { LONG_IMPORT_MS, limitHeapGrowth } from '../../imports/heap-growth.ts';
import {
  answerOf,
  endImport,
  findByKey,
  type ImportAnswer,
  type OpenImport,
  openImport,
  unlockImport,
} from '../../imports/import.ts';
import { importLines } from '../../imports/importer.ts';
import { type Claim, claimImport, releaseImport } from '../../imports/key.ts';
import type { ImportKind } from '../../imports/kind.ts';
import { LineHash } from '../../imports/line-hash.ts';
import { checkSameRequest, storeAnswer } from '../../operator/idempotency.ts';
import { confirmOperator, type Operator } from '../../operator/operator.ts';
import { presentationOf } from '../../payments/presentation.ts';
import type { Problem } from '../../values/errors.ts';
import { closed } from '../../values/schemas.ts';
import { toProblem } from '../schemas/problem.ts';
import { sendJson } from '../schemas/reply.ts';
import { explain, keepDigits } from '../schemas/validation.ts';
import { idempotencyKey } from '../server/change.ts';
import { operatorAct } from './change.ts';
import { begun } from './import-body.ts';

export interface Importable {
  // biome-ignore lint/suspicious/noExplicitAny: the shape of a kind's records is checked by its schema, at run time
  kind: ImportKind<any, any>;
  schema: TObject;
  /** Whether it notifies clients unless the caller forbids it. */
  notifies?: boolean;
  /** Checks of a line that the schema cannot express. @throws Problem */
  checkLine?(record: object, operator: Operator, context: Context): void;
}

export const ImportQuery = Type.Object({
  on_error: Type.Optional(
    Type.Enum(['continue', 'stop'], {
      description: 'stop: end at the first rejected line',
      default: 'continue',
    }),
  ),
  on_conflict: Type.Optional(
    Type.Enum([...CONFLICT_RULES], {
      description:
        'A line whose identifier is in use: reject (the default) refuses it; skip counts it as unchanged where its content is the same; ' +
        'update changes the record as PATCH does (clients, contacts, beneficiaries, trades)',
    }),
  ),
  notify: Type.Optional(
    Type.Boolean({
      description: 'Send the notifications that single calls cause; default: only payment-actions does',
    }),
  ),
});
export interface ImportRoute {
  Querystring: Static<typeof ImportQuery>;
  Body: (NodeJS.ReadableStream & AsyncIterable<unknown>) | undefined;
}

/** An import whose turn has come. */
export interface ImportCall {
  request: FastifyRequest<ImportRoute>;
  reply: FastifyReply;
  /** The name of the kind in the address. */
  name: string;
  importable: Importable;
  body: AsyncIterable<Buffer>;
}

/** Runs an import on a connection of its own, under its idempotency key if it has one. */
export async function runImport(context: Context, given: ImportCall): Promise<FastifyReply> {
  const { request, reply } = given;
  const key = idempotencyKey(request);
  const connection = await connect(context.backgroundPool);
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  connection.on('error', onError);
  try {
    const call = { ...given, body: await begun(given.body) };
    const claim =
      key === undefined ? undefined : await claimImport(connection, context.vault, { key, now: request.now });
    if (claim?.answer) return await replay(connection, call, { key: key as string, answer: claim.answer });
    const text = await importFile(context, connection, call, { key, known: claim?.known ?? false });
    return sendJson(reply, text);
  } catch (error) {
    // A caller that is still sending does not read the answer, or sends its next request behind this body. So the body is read to its end.
    if (request.body) readToEnd(request.body).catch(() => {});
    throw error;
  } finally {
    if (key !== undefined && !broken) await releaseImport(connection, key).catch(onError);
    connection.off('error', onError);
    connection.release(broken);
  }
}

/** Sends the answer of an import that was sent before. @throws Problem idempotency_conflict if that was a different import */
async function replay(
  connection: Transaction,
  { request, reply, body }: ImportCall,
  { key, answer }: { key: string; answer: NonNullable<Claim['answer']> },
): Promise<FastifyReply> {
  const hash = new LineHash(headOf(request));
  await readToEnd(hash.read(body));
  checkSameRequest(answer, hash.soFar());
  const importId = await findByKey(connection, key);
  if (importId !== undefined) reply.header('import-id', importId);
  return sendJson(reply.code(answer.status).header('idempotency-replayed', 'true'), answer.body);
}

/** Imports a file, or the rest of it. @returns the answer as JSON */
async function importFile(
  context: Context,
  connection: Transaction,
  call: ImportCall,
  { key, known }: { key: string | undefined; known: boolean },
): Promise<string> {
  const { request, reply, name, body } = call;
  const { clock, vault } = context;
  const hash = new LineHash(headOf(request));
  const opening = { kind: name, key, known, sha256: hash.soFar(), now: request.now };
  const opened = await openImport(connection, opening);
  const { importId } = opened;
  reply.header('import-id', importId);
  const source = hash.read(body);
  try {
    const answer = await importRest(context, connection, call, { opened, source, hash });
    // An import that stopped early has not read its whole body. A connection can be reused only after its body was read.
    await readToEnd(source);
    const { unchanged, ...others } = answer;
    const text = JSON.stringify(request.query.on_conflict === undefined ? others : { unchanged, ...others });
    const end = async (tx: Transaction) => {
      await endImport(tx, importId, { state: 'done', now: clock.now() });
      if (key !== undefined) storeAnswer(tx, vault, { key, sha256: hash.soFar() }, { status: 200, body: text });
    };
    await transactionOn(connection, () => end(connection)).catch((error: unknown) => {
      if (!databaseFault(error)) throw error;
      // The connection was lost together with the answer to a commit. What it has imported stays.
      return transaction(context.backgroundPool, end);
    });
    return text;
  } catch (error) {
    // If the database failed, nobody holds the lock of the import any more, which means the same.
    await endImport(connection, importId, { state: 'interrupted', now: clock.now() }).catch(() => {});
    throw error;
  } finally {
    await unlockImport(connection, importId).catch(() => {});
  }
}

interface Opened {
  opened: OpenImport;
  source: AsyncIterable<Buffer>;
  hash: LineHash;
}

async function importRest(
  context: Context,
  connection: Transaction,
  { request, importable }: ImportCall,
  { opened, source, hash }: Opened,
): Promise<ImportAnswer> {
  const { importId, from, done } = opened;
  if (done) return answerOf(from);
  const wanted = {
    kind: importable.kind,
    scope: {
      act: operatorAct(request),
      vault: context.vault,
      presentation: presentationOf(context),
      notify: request.query.notify ?? importable.notifies ?? false,
      stop: request.query.on_error === 'stop',
      trades: new TradeMemory(),
    },
    importId,
    from,
    rule: request.query.on_conflict ?? 'reject',
    confirm: (tx: Transaction) => confirmOperator(tx, request.operator, context.clock.now()),
    checkShape: shapeCheck(request, context, importable),
    place: 'body',
    toProblem,
  };
  return limitHeapGrowth(() => importLines(connection, source, hash, wanted), LONG_IMPORT_MS);
}

/** What must be the same, besides the lines, if an import is sent again. */
function headOf({ method, url }: FastifyRequest): string {
  return `${method} ${url}\n`;
}

async function readToEnd(source: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of source) void _;
}

/** The validator of the route for a single record, with the same messages. If records may be changed, also the validator of PATCH. */
function shapeCheck(
  request: FastifyRequest<ImportRoute>,
  context: Context,
  { schema, checkLine }: Importable,
): (record: unknown) => Problem | undefined {
  const compile = (shape: TObject) => {
    const valid = request.compileValidationSchema({ ...shape }, 'body');
    return (record: unknown) =>
      valid(record) ? undefined : explain({ validation: valid.errors ?? [], validationContext: 'body' });
  };
  const faultOf = compile(schema);
  const faultOfChange = request.query.on_conflict === 'update' ? compile(Type.Partial(schema, closed)) : faultOf;
  return (record) => {
    const lacks = faultOf(record);
    const fault = lacks && faultOfChange(record);
    if (fault) throw fault;
    keepDigits(schema, record);
    checkLine?.(record as object, request.operator, context);
    return lacks;
  };
}
