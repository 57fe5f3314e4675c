import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Context } from '../../../context.ts';
import { errorsAsCsv, listFiles, showFile, template, templateWithPayees } from '../../../orders/mass/page-files.ts';
import { ClientId } from '../../../values/schemas.ts';
import { sendList, sendValue } from '../../schemas/reply.ts';
import { ClientQuery, listRequest, type Page, Paging, uuidPath } from '../../schemas/schemas.ts';

const Files = Type.Object({ client_id: ClientId, ...Paging });
const Path = uuidPath('mass_payment_id', 'Mass payment');
const Template = Type.Object({ client_id: ClientId, payees: Type.Optional(Type.Boolean()) });

/** What the pages of files need besides the client API: who sent them, payees that would be new, and CSV templates. */
export function filesData(app: FastifyInstance, { pool }: Context): void {
  app.get<{ Querystring: Static<typeof Files> & Page }>(
    '/app/data/files',
    { schema: { querystring: Files } },
    async (request, reply) =>
      sendList(reply, await listFiles(pool, { ...listRequest(request.query), clientId: request.caller.clientId })),
  );

  app.get<{ Params: Static<typeof Path> }>(
    '/app/data/files/:mass_payment_id',
    { schema: { params: Path, querystring: ClientQuery } },
    async (request, reply) =>
      sendValue(reply, await showFile(pool, request.caller.clientId, request.params.mass_payment_id)),
  );

  app.get<{ Params: Static<typeof Path> }>(
    '/app/data/files/:mass_payment_id/errors.csv',
    { schema: { params: Path, querystring: ClientQuery } },
    async (request, reply) =>
      sendCsv(reply, 'errors', await errorsAsCsv(pool, request.caller.clientId, request.params.mass_payment_id)),
  );

  app.get<{ Querystring: Static<typeof Template> }>(
    '/app/data/payments-template.csv',
    { schema: { querystring: Template } },
    async (request, reply) =>
      sendCsv(
        reply,
        'payments',
        request.query.payees ? await templateWithPayees(pool, request.caller.clientId) : template(),
      ),
  );
}

/** Sends a CSV file with a byte order mark. Without one, spreadsheets use the machine's old code page. */
function sendCsv(reply: FastifyReply, name: string, csv: string): FastifyReply {
  reply.header('content-disposition', `attachment; filename="${name}.csv"`);
  return reply.type('text/csv; charset=utf-8').send(`\ufeff${csv}`);
}
