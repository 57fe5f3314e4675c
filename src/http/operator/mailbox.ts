import type { FastifyInstance } from 'fastify';
import type { Context } from '../../context.ts';
import { listTexts } from '../../identity/text-message.ts';
import { listMailbox } from '../../mail.ts';
import { sendValue } from '../reply.ts';
import { errors } from '../schemas.ts';
import { IDENTITY } from './listener.ts';

const LIST_MAILS = {
  config: IDENTITY,
  schema: {
    operationId: 'listMails',
    tags: ['sandbox'],
    summary: 'List the mails of a service without an SMTP server, the newest first',
    response: errors(502),
  },
};

const LIST_TEXTS = {
  config: IDENTITY,
  schema: {
    operationId: 'listTextMessages',
    tags: ['sandbox'],
    summary: 'List the texts of a service without a gateway, the newest first',
    response: errors(502),
  },
};

/** The sandbox's mails and texts (docs/operator-interface.md). Production has no such addresses. */
export function operatorMailboxRoutes(app: FastifyInstance, context: Context): void {
  if (context.config.environment !== 'sandbox') return;
  app.get('/mailbox', LIST_MAILS, async (_request, reply) => sendValue(reply, await listMailbox(context.pool)));
  app.get('/text-messages', LIST_TEXTS, async (_request, reply) => sendValue(reply, await listTexts(context.pool)));
}
