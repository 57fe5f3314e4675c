import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { bankTable } from '../../beneficiaries/bank-table.ts';
import type { Context } from '../../context.ts';
import type { Refusal } from '../../iso20022/initiation.ts';
import { isRefusal, readInitiation } from '../../iso20022/reader.ts';
import { pain002, type StatusReport } from '../../iso20022/report.ts';
import { takeInitiation } from '../../orders/mass/initiation.ts';
import { findInitiation, originalOf, reportNow, reportTaken } from '../../orders/mass/initiation-report.ts';
import { ClientId } from '../../values/schemas.ts';
import { MAX_INSTRUCTIONS_BYTES } from '../schemas/instruction.ts';
import { operation, serve } from '../schemas/operation.ts';
import { ClientQuery, errors } from '../schemas/schemas.ts';
import { takeBytes } from '../server/keyed.ts';
import { answerChange } from './change.ts';

/** ISO 20022 files: accepts a pain.001, and reports with a pain.002 what became of it (instructions, second page, 9; docs/iso-20022.md). */

const XML = 'application/xml; charset=utf-8';
const MESSAGE = { schema: { type: 'string', description: 'pain.002.001.10' } };
const xmlAnswer = (description: string) => ({ description, content: { 'application/xml': MESSAGE } });

/** Answers that are an ErrorMessage if the file was not read, and a pain.002 if it was. */
function refusals(...expected: Parameters<typeof errors>): Record<number, object> {
  const answers = errors(...expected);
  const both = (status: number) => {
    const answer = answers[status] as { content?: object };
    return [status, { ...answer, content: { ...answer.content, 'application/xml': MESSAGE } }] as const;
  };
  return { ...answers, ...Object.fromEntries([400, 409].map(both)) };
}

const DENIED = ['permission_denied', 'second_factor_missing'] as const;
const CREATE = operation('POST /payment-initiations', {
  bodyLimit: MAX_INSTRUCTIONS_BYTES,
  config: {
    permission: ['can_create_payments', 'can_manage_multipayments'],
    secondFactor: true,
    describedBody: {
      'application/xml': { schema: { type: 'string', description: 'pain.001.001.09 or pain.001.001.03, UTF-8' } },
      'text/xml': { schema: { type: 'string', description: 'The same' } },
    },
  },
  schema: {
    operationId: 'createPaymentInitiation',
    tags: ['payment initiations'],
    summary: 'Send a pain.001',
    description:
      'Each block (PmtInf) becomes a mass payment, which goes on without its bad rows. The answer is a pain.002: `ACTC`, or `PART` or `RJCT` ' +
      'with the reasons of blocks that are refused. Needs can_create_payments and can_manage_multipayments.',
    querystring: Type.Object({ client_id: ClientId }),
    response: {
      202: xmlAnswer('The file is taken, or each of its blocks is refused'),
      ...refusals(400, 409, 502, 'payload_too_large', 'unsupported_media_type', ...DENIED),
    },
  },
});

const READ_STATUS = operation('GET /payment-initiations/{message_id}/status', {
  schema: {
    operationId: 'getPaymentInitiationStatus',
    tags: ['payment initiations'],
    summary: 'Read what became of a pain.001',
    params: Type.Object({ message_id: Type.String({ description: 'Its MsgId, percent-encoded' }) }),
    querystring: ClientQuery,
    response: { 200: xmlAnswer('The pain.002 of now'), ...errors(400, 403, 502, 'payment_initiation_not_found') },
  },
});

/** The pain.001 messages of a client. */
export function paymentInitiationRoutes(app: FastifyInstance, context: Context): void {
  const { pool, clock } = context;
  const table = bankTable(context.config.bankDetails);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(['application/xml', 'text/xml'], { parseAs: 'buffer' }, (request, body, done) => {
    takeBytes(request, body);
    done(null, body);
  });
  const report = (told: Omit<StatusReport, 'reportId' | 'createdAt'>) =>
    pain002({ ...told, reportId: randomUUID().replaceAll('-', ''), createdAt: clock.now().toISOString() });

  serve(app, CREATE, async (request, reply) => {
    const { clientId, contactId } = request.caller;
    // A copy, because the thread that reads the file takes over its memory.
    const read = await readInitiation(Uint8Array.from(bytesOf(request.body)));
    if (isRefusal(read)) return sendXml(reply.code(400), report(refused(read)));
    try {
      return await answerChange(context, request, reply, async (tx, act) => {
        const kept = await takeInitiation(tx, act, { orderer: { clientId, contactId }, initiation: read, table });
        if (!kept) throw new UsedMessage();
        const body = report({ original: originalOf(kept), ...reportTaken(kept) });
        return { status: 202, body, headers: { 'content-type': XML } };
      });
    } catch (error) {
      if (!(error instanceof UsedMessage)) throw error;
      const { messageId, message, createdAt, count, sum } = read;
      const reasons = [{ code: 'DU01', information: 'already_exists: the client has used this MsgId before' }];
      const original = { messageId, message, createdAt, count, sum };
      return sendXml(reply.code(409), report({ original, status: 'RJCT', reasons }));
    }
  });

  serve(app, READ_STATUS, async ({ params, caller }, reply) => {
    const kept = await findInitiation(pool, caller.clientId, params.message_id);
    return sendXml(reply, report({ original: originalOf(kept), ...(await reportNow(pool, caller.clientId, kept)) }));
  });
}

/** The client has used the MsgId before. Nothing is stored, so an Idempotency-Key stays free. */
class UsedMessage extends Error {}

/** A request without a body is an empty file. */
const bytesOf = (body: unknown) => (Buffer.isBuffer(body) ? body : Buffer.alloc(0));

function sendXml(reply: FastifyReply, message: string): FastifyReply {
  return reply.type(XML).send(message);
}

function refused({ code, messageId, message, details }: Refusal): Omit<StatusReport, 'reportId' | 'createdAt'> {
  const ours = code === 'FF01' ? 'invalid_body' : 'invalid_format';
  return {
    ...{ original: { messageId, message }, status: 'RJCT' },
    reasons: [{ code, information: `${ours}: ${details}` }],
  };
}
