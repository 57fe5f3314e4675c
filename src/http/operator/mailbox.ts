import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { listTexts } from '../../identity/second-factor/text-message.ts';
import { listMailbox } from '../../mails/mail.ts';
import { operation, serve } from '../schemas/operation.ts';
import { sendShortList } from '../schemas/reply.ts';
import { errors, listAnswer, ShortListQuery } from '../schemas/schemas.ts';
import { IDENTITY } from './listener.ts';

const Mail = Type.Object(
  {
    to: Type.String(),
    subject: Type.String(),
    text: Type.String(),
    html: Type.String(),
    attachments: Type.Array(
      Type.Object({
        filename: Type.String(),
        content_type: Type.String(),
        content: Type.String({ description: 'In base64' }),
      }),
    ),
    message_id: Type.String(),
    sent_at: Type.String({ format: 'date-time' }),
  },
  {
    title: 'Mail',
    examples: [
      {
        to: 'ada@acme.example',
        subject: 'Your account statement',
        text: 'Your statement is attached.',
        html: '<p>Your statement is attached.</p>',
        attachments: [{ filename: 'statement.csv', content_type: 'text/csv', content: 'ZGF0ZSxhbW91bnQK' }],
        message_id: '<3f0e1d8c@lombard.example>',
        sent_at: '2026-07-01T09:15:00.000Z',
      },
    ],
  },
);
const TextMessage = Type.Object(
  { to: Type.String(), text: Type.String(), sent_at: Type.String({ format: 'date-time' }) },
  {
    title: 'TextMessage',
    examples: [{ to: '+44 20 7946 0000', text: 'Your code is 123456', sent_at: '2026-07-01T09:15:00.000Z' }],
  },
);

const LIST_MAILS = operation('GET /mailbox', {
  config: IDENTITY,
  schema: {
    operationId: 'listMails',
    tags: ['sandbox'],
    summary: 'List the mails of a service without an SMTP server, the newest first',
    querystring: ShortListQuery,
    response: { 200: listAnswer('The mails', Mail), ...errors(400, 502) },
  },
});

const LIST_TEXTS = operation('GET /text-messages', {
  config: IDENTITY,
  schema: {
    operationId: 'listTextMessages',
    tags: ['sandbox'],
    summary: 'List the texts of a service without a gateway, the newest first',
    querystring: ShortListQuery,
    response: { 200: listAnswer('The texts', TextMessage), ...errors(400, 502) },
  },
});

export type MailboxOperations = typeof LIST_MAILS | typeof LIST_TEXTS;

/** The sandbox's mails and texts (docs/operator-interface.md). Production has no such addresses. */
export function operatorMailboxRoutes(app: FastifyInstance, context: Context): void {
  if (context.config.environment !== 'sandbox') return;
  serve(app, LIST_MAILS, async ({ query }, reply) => sendShortList(reply, await listMailbox(context.pool), query));
  serve(app, LIST_TEXTS, async ({ query }, reply) => sendShortList(reply, await listTexts(context.pool), query));
}
