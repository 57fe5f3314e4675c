import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../context.ts';
import { DOCUMENT_KINDS, type DocumentKind, type Drawing, documentPdf } from '../../documents/document.ts';
import { paymentFacts, tradeFacts } from '../../documents/source.ts';
import { RenderError } from '../../documents/task.ts';
import { Problem } from '../../values/errors.ts';
import { ClientId } from '../../values/schemas.ts';
import { errors } from '../schemas/schemas.ts';
import { prefers } from '../server/accept.ts';

const DocumentQuery = Type.Object({
  client_id: ClientId,
  type: Type.Enum(DOCUMENT_KINDS, {
    description: 'pi: payment instruction, pr: payment receipt, tr: trade receipt',
    examples: ['pi'],
  }),
  id: Type.Optional(Type.String({ description: 'payment_id, or trade_id for tr', examples: ['PAY000001'] })),
  reference: Type.Optional(Type.String({ description: 'Another name of id' })),
});

const READ_DOCUMENT = {
  schema: {
    operationId: 'getDocument',
    tags: ['documents'],
    summary: 'Return a document as a PDF',
    description:
      'Drawn at the request from what is stored now; the same facts give the same bytes. A payment has a receipt once it has been sent.',
    querystring: DocumentQuery,
    response: {
      200: {
        description: 'The PDF: base64 encoded as a JSON string, or its bytes where `Accept` prefers application/pdf',
        content: {
          'application/json': { schema: Type.String({ examples: ['JVBERi0xLjcK'] }) },
          'application/pdf': { schema: { type: 'string', format: 'binary' } },
        },
      },
      ...errors(400, 403, 404, 502, 'document_not_found'),
    },
  },
};

/** GET /documents (service interface; docs/decisions.md, 5). */
export function documentRoutes(drawing: Drawing): (app: FastifyInstance, context: Context) => void {
  return (app, context) => {
    app.get<{ Querystring: Static<typeof DocumentQuery> }>('/documents', READ_DOCUMENT, async (request, reply) => {
      const { type } = request.query;
      const pdf = await draw(context, drawing, {
        clientId: request.caller.clientId,
        kind: type,
        ...idOf(request.query),
      });
      reply.header('vary', 'Origin, Accept');
      if (prefers(request.headers.accept, 'application/pdf', 'application/json')) {
        const disposition = `inline; filename="${type}-${encodeURIComponent(idOf(request.query).id)}.pdf"`;
        return reply.type('application/pdf').header('content-disposition', disposition).send(pdf);
      }
      // Base64 contains nothing that JSON would escape.
      return reply.type('application/json; charset=utf-8').send(`"${pdf.toString('base64')}"`);
    });
  };
}

/** The identifier that was sent, and the parameter that contains it. */
function idOf({ id, reference }: { id?: string; reference?: string }): { id: string; field: string } {
  if (id && reference && id !== reference)
    throw new Problem('invalid_parameter', 'query.reference: must be the same as id; you can omit it');
  if (id) return { id, field: 'query.id' };
  if (reference) return { id: reference, field: 'query.reference' };
  throw new Problem('missing_parameter', 'query.id: is required');
}

async function draw(
  { pool }: Context,
  drawing: Drawing,
  { clientId, kind, id, field }: { clientId: string; kind: DocumentKind; id: string; field: string },
): Promise<Buffer> {
  try {
    if (kind === 'tr') {
      const trade = await tradeFacts(pool, clientId, id);
      if (!trade) throw new Problem('document_not_found', `${field}: is not a trade of the client`);
      return await documentPdf(drawing, kind, trade);
    }
    const payment = await paymentFacts(pool, clientId, id);
    if (!payment) throw new Problem('document_not_found', `${field}: is not a payment of the client`);
    if (kind === 'pr' && payment.sent_date === null)
      throw new Problem('document_not_found', 'query.type: a payment has a receipt once it has been sent');
    return await documentPdf(drawing, kind, payment);
  } catch (error) {
    if (error instanceof RenderError && error.reason === 'busy')
      throw new Problem('integration_error', 'too many documents are waiting to be drawn; try again in a moment', {
        cause: error,
      });
    throw error;
  }
}
