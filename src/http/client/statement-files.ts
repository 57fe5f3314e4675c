import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { chosenAccount } from '../../accounts/account-choice.ts';
import type { Context } from '../../context.ts';
import { findFile } from '../../statements/kept-file.ts';
import { requestFile, requireFilePeriod, type StatementFormat } from '../../statements/request.ts';
import { londonDay } from '../../values/calendar.ts';
import { refusedBody } from '../../values/errors.ts';
import { ClientId } from '../../values/schemas.ts';
import { namesOf } from '../../values/unknown.ts';
import { orderBody } from '../schemas/order-body.ts';
import { locationHeader, sendJson } from '../schemas/reply.ts';
import { ClientQuery, errors, jsonAnswer, orderErrors } from '../schemas/schemas.ts';
import { ChosenAccountPath } from './accounts.ts';
import { clientAddress } from './caller.ts';
import { answerChange } from './change.ts';
import { A_DATE_TIME, DateTime, parseDateTime } from './date-time.ts';

const FORMATS = { pdf: 'pdf', csv: 'csv', camt053: 'camt.053' } as const satisfies Record<string, StatementFormat>;
type Format = keyof typeof FORMATS;
const NAMES = { date_from: 'from_value_datetime', date_to: 'to_value_datetime' };

const EXAMPLE_ID = '1f2e3d4c-5b6a-4789-8abc-def012345678';
const EXAMPLE_URL = `https://api.example.com/accounts/1/statements/${EXAMPLE_ID}/file?client_id=CLI000001`;
const FileBody = orderBody(
  {
    from_value_datetime: DateTime('Its London day is the first one'),
    to_value_datetime: Type.Optional(DateTime('Its London day is the last one, included; default: now')),
  },
  {
    title: 'StatementFileInput',
    examples: [{ from_value_datetime: '2026-07-01T00:00:00Z', to_value_datetime: '2026-07-31T12:00:00Z' }],
  },
);
const FileQuery = Type.Object({
  client_id: ClientId,
  format: Type.Optional(Type.Enum(namesOf(FORMATS), { default: 'pdf' })),
});
const Requested = Type.Object(
  { url: Type.String({ format: 'uri', description: 'Where the file can be fetched, for 7 days' }) },
  { title: 'StatementFileRequest', examples: [{ url: EXAMPLE_URL }] },
);
const Waiting = Type.Object(
  { status: Type.Enum(['queued', 'running']) },
  { title: 'StatementFileProgress', examples: [{ status: 'queued' }] },
);
const FilePath = Type.Object({
  ...ChosenAccountPath.properties,
  statement_id: Type.String({ description: 'Identifier of the request', examples: [EXAMPLE_ID] }),
});

const REQUEST = {
  schema: {
    operationId: 'requestStatementFile',
    tags: ['statements'],
    summary: 'Request a statement of a currency account as a file',
    description:
      'The service makes the file in the background from what is booked now. `url` of the answer has it, for 7 days.',
    params: ChosenAccountPath,
    querystring: FileQuery,
    body: FileBody,
    response: {
      202: jsonAnswer('Accepted', Requested, locationHeader('The same as url', EXAMPLE_URL)),
      ...orderErrors(400, 403, 404, 502, 'currency_account_not_found', 'statement_period_too_long'),
    },
  },
};

const binary = { schema: Type.String({ contentEncoding: 'binary' }) };
const FETCH = {
  schema: {
    operationId: 'getStatementFile',
    tags: ['statements'],
    summary: 'Fetch the file of a statement',
    description: '202 while it is being made.',
    params: FilePath,
    querystring: ClientQuery,
    response: {
      200: {
        description: 'The file',
        content: { 'application/pdf': binary, 'text/csv': binary, 'application/xml': binary },
      },
      202: jsonAnswer('It is being made', Waiting),
      ...errors(400, 403, 404, 502, 'currency_account_not_found', 'statement_not_found'),
    },
  },
};

/** POST /accounts/{account_id}/statements/file, and the download of the file. */
export function statementFileRoutes(app: FastifyInstance, context: Context): void {
  const { pool, config } = context;
  app.post<{
    Params: Static<typeof ChosenAccountPath>;
    Querystring: Static<typeof FileQuery>;
    Body: Static<typeof FileBody>;
  }>('/accounts/:account_id/statements/file', REQUEST, async (request, reply) => {
    const { caller, params, query, body, now } = request;
    const period = { ...daysOf(body, now), format: FORMATS[(query.format ?? 'pdf') as Format] };
    requireFilePeriod(period, { maxDays: config.statementMaxDays, names: NAMES });
    return answerChange(context, request, reply, async (tx, act) => {
      const { account_id: accountId } = await chosenAccount(tx, caller.clientId, params.account_id);
      const id = await requestFile(tx, act, caller, { ...period, accountId });
      const url = clientAddress(context, request, `/accounts/${accountId}/statements/${id}/file`);
      return { status: 202, body: JSON.stringify({ url }), headers: { location: url } };
    });
  });
  app.get<{ Params: Static<typeof FilePath> }>(
    '/accounts/:account_id/statements/:statement_id/file',
    FETCH,
    async ({ caller: { clientId }, params, now }, reply) => {
      const { account_id: accountId } = await chosenAccount(pool, clientId, params.account_id);
      const found = await findFile(pool, { clientId, accountId, id: params.statement_id }, now);
      if ('status' in found) return sendJson(reply.code(202), JSON.stringify({ status: found.status }));
      reply.header('content-disposition', `attachment; filename="${found.filename}"`);
      reply.header('content-length', found.size);
      return reply.type(found.contentType).send(found.content);
    },
  );
}

/** The London days of the date-times in a request. @throws Problem invalid_body */
function daysOf({ from_value_datetime: first, to_value_datetime: last }: Static<typeof FileBody>, now: Date) {
  const from = parseDateTime(first);
  const to = last === undefined ? now : parseDateTime(last);
  if (from && to) return { dateFrom: londonDay(from), dateTo: londonDay(to) };
  const wrong = [from ? [] : NAMES.date_from, to ? [] : NAMES.date_to].flat();
  throw refusedBody(wrong.map((field) => ({ field, message: A_DATE_TIME, code: 'invalid_format' as const })));
}
