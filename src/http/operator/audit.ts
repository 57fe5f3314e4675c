import type { FastifyInstance, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { GivenHead } from '../../audit/head-faults.ts';
import { listHeads } from '../../audit/heads.ts';
import { ChainKeyFault } from '../../audit/key.ts';
import { type AuditFilter, listAudit, listAuditAfter } from '../../audit/list.ts';
import { sealCells } from '../../audit/seal.ts';
import { type Verification, verifyAudit } from '../../audit/verification.ts';
import type { Context } from '../../context.ts';
import { Problem } from '../../values/errors.ts';
import { Nullable, PATTERNS } from '../../values/schemas.ts';
import { operation, type RequestOf, serve } from '../schemas/operation.ts';
import { periodOf, periodQuery } from '../schemas/period.ts';
import { sendList, sendValue } from '../schemas/reply.ts';
import { errors, jsonAnswer, listAnswer, listRequest, MAX_PAGE, Paging, rowsOf } from '../schemas/schemas.ts';
import { AUDIT } from './listener.ts';

const MAX_ROWS = 1_000;
const DEFAULT_ROWS = 100;
const DEFAULT_PAGE_ROWS = 50;
/** The most rows before a page. To go further, use `after`, whose cost does not depend on the position. */
const MAX_OFFSET_ROWS = 10_000;

const tags = ['audit'];
const Range = periodQuery('Recorded');
const AuditQuery = Type.Object({
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Position of the last row that is known; 0: from the first',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_ROWS, description: `Rows after \`after\`; default ${DEFAULT_ROWS}` }),
  ),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE, description: 'Page, from 1' })),
  page_size: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_ROWS, description: `Rows on a page; default ${DEFAULT_PAGE_ROWS}` }),
  ),
  order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'Of pages; default asc: the oldest first' })),
  entity: Type.Optional(Type.String({ description: 'Noun, such as payment' })),
  entity_id: Type.Optional(Type.String()),
  client_id: Type.Optional(Type.String()),
  actor: Type.Optional(
    Type.String({
      description:
        'operator:<token> (or token:<token>, as in the change feed), staff:<name>, contact:<contact_id> or service:<part>',
    }),
  ),
  ...Range,
});

const Hash = Type.String({ description: 'Hexadecimal' });
const At = Type.String({ format: 'date-time' });
const HEAD = {
  position: 57,
  hash: '5f0c8b1d2e3a4c5b6d7e8f901a2b3c4d5f0c8b1d2e3a4c5b6d7e8f901a2b3c4d',
  at: '2026-11-21T10:00:00.123Z',
};
const AuditHead = Type.Object(
  { position: Type.Integer(), hash: Hash, at: At },
  { title: 'AuditHead', examples: [HEAD] },
);
const value = Nullable(Type.Unknown({ description: 'The entity, without its secrets' }));
const AuditRow = Type.Object(
  {
    position: Type.Integer({ description: 'Counts the rows in the order in which they were sealed' }),
    hash: Hash,
    id: Type.Integer(),
    at: At,
    actor: Type.String({ description: 'operator:<token>, staff:<name>, contact:<contact_id> or service:<part>' }),
    request_id: Type.String(),
    action: Type.String({ description: 'create, update, delete, import or action' }),
    entity: Type.String(),
    entity_id: Type.String(),
    client_id: Nullable(Type.String()),
    before: value,
    after: value,
    reason: Nullable(Type.String({ description: 'Why, in the words of the person who did it' })),
    staff: Nullable(
      Type.Object(
        { issuer: Type.String(), subject: Type.String() },
        { description: 'The person of the actor staff:<name>, at the OpenID provider' },
      ),
    ),
  },
  {
    title: 'AuditRow',
    examples: [
      {
        ...HEAD,
        id: 57,
        actor: 'operator:core feed',
        request_id: '6f1d0a52-5d1c-4b8e-9a3e-0f6f6d3b2c11',
        action: 'create',
        entity: 'client',
        entity_id: 'CLI000001',
        client_id: 'CLI000001',
        before: null,
        after: { client_id: 'CLI000001', client_name: 'Acme Ltd' },
        reason: null,
        staff: null,
      },
    ],
  },
);
const AuditVerification = Type.Object(
  {
    valid: Type.Boolean(),
    rows: Type.Integer({ description: 'Rows that were proved' }),
    first_invalid: Nullable(Type.Integer({ description: 'The id of the first row that is not as it was sealed' })),
    fault: Nullable(
      Type.Object({
        what: Type.String(),
        position: Nullable(Type.Integer()),
        id: Nullable(Type.Integer()),
        message: Type.String(),
      }),
    ),
    keyed_from: Nullable(Type.Integer({ description: 'The first position that was sealed with the key' })),
    kept_from: Type.Integer({ description: 'The first position that the retention has kept' }),
    head: Nullable(AuditHead),
  },
  {
    title: 'AuditVerification',
    examples: [{ valid: true, rows: 57, first_invalid: null, fault: null, keyed_from: 1, kept_from: 1, head: HEAD }],
  },
);

const LIST = operation('GET /audit', {
  config: AUDIT,
  schema: {
    operationId: 'listAudit',
    tags,
    summary: 'Read the audit trail',
    querystring: AuditQuery,
    response: { 200: listAnswer('Rows, the oldest first', AuditRow), ...errors(400, 502) },
  },
});
const HEADS = operation('GET /audit/heads', {
  config: AUDIT,
  schema: {
    operationId: 'listAuditHeads',
    tags,
    summary: 'List the heads of the chain, the newest first',
    querystring: Type.Object({ ...Paging, ...Range }),
    response: { 200: listAnswer('Heads', AuditHead), ...errors(400, 502) },
  },
});
const VERIFY = operation('GET /audit/verify', {
  config: AUDIT,
  schema: {
    operationId: 'verifyAudit',
    tags,
    summary: 'Verify the chain of the audit trail',
    querystring: Type.Object({
      ...Range,
      head: Type.Optional(
        Type.String({
          pattern: PATTERNS.head,
          description: 'A head that was kept, as `<position>:<hash>`',
        }),
      ),
    }),
    response: { 200: jsonAnswer('What was proved', AuditVerification), ...errors(400, 502) },
  },
});

export type AuditOperations = typeof LIST | typeof HEADS | typeof VERIFY;

/** The audit trail (docs/audit.md). */
export function operatorAuditRoutes(app: FastifyInstance, context: Context): void {
  serve(app, LIST, (request, reply) => list(context, request, reply));
  serve(app, HEADS, (request, reply) => heads(context, request, reply));
  serve(app, VERIFY, (request) => verify(context, request));
}

async function list(context: Context, { query }: RequestOf<typeof LIST>, reply: FastifyReply) {
  const filter: AuditFilter = {
    entity: query.entity,
    entityId: query.entity_id,
    clientId: query.client_id,
    actor: query.actor,
    ...periodOf(query),
    until: await sealForReading(context),
  };
  const { after, limit, page = 1, page_size = DEFAULT_PAGE_ROWS } = query;
  if (after === undefined && limit === undefined) {
    const rows = rowsOf({ page, page_size });
    if (rows.offset > MAX_OFFSET_ROWS) {
      const message = `must not begin after row ${MAX_OFFSET_ROWS}: read on with after=<position of the last row>`;
      throw new Problem('invalid_parameter', { field: 'page', message });
    }
    return sendList(reply, await listAudit(context.pool, filter, { ...rows, order: query.order ?? 'asc' }));
  }
  for (const field of ['page', 'page_size', 'order'] as const)
    if (query[field] !== undefined)
      throw new Problem('invalid_parameter', { field, message: 'must be left out where after or limit is given' });
  const start = { after: after ?? 0, limit: limit ?? DEFAULT_ROWS };
  return sendValue(reply, await listAuditAfter(context.pool, filter, start));
}

async function heads({ pool }: Context, { query }: RequestOf<typeof HEADS>, reply: FastifyReply) {
  return sendList(reply, await listHeads(pool, periodOf(query), listRequest(query)));
}

function verify({ backgroundPool, vault, clock }: Context, { query }: RequestOf<typeof VERIFY>): Promise<Verification> {
  return verifyAudit(backgroundPool, vault, clock.now(), { ...periodOf(query), head: givenHead(query.head) });
}

/**
 * Seals what was committed, so that a list shows every change that was answered before it. Without the key the list shows what is sealed;
 * verification says why.
 * @returns the last position to show, if there is one
 */
async function sealForReading({ backgroundPool, vault }: Context): Promise<number | undefined> {
  try {
    return (await sealCells(backgroundPool, vault))?.position;
  } catch (error) {
    if (!(error instanceof ChainKeyFault)) throw error;
    return undefined;
  }
}

function givenHead(text: string | undefined): GivenHead | undefined {
  const [position = '', hash = ''] = text?.split(':') ?? [];
  return text === undefined ? undefined : { position: Number(position), hash };
}
