import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Fastify, { type FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { faultCode, OrderAmount, orderBody } from '../../src/http/schemas/order-body.ts';
import { errorMessage } from '../../src/http/schemas/problem.ts';
import { COMPILERS, FORMATS, KEYWORDS } from '../../src/http/server/compilers.ts';
import { MESSAGES, Problem, refusedElements } from '../../src/values/errors.ts';
import { parseJson } from '../../src/values/json.ts';
import { closed, Nullable } from '../../src/values/schemas.ts';

/** Bodies of orders (instructions, 2): every fault is told, in the order of the elements. */
const BODY = orderBody(
  {
    orders: Type.Array(
      Type.Object(
        {
          amount: OrderAmount('How much'),
          country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$', ...faultCode('invalid_country') })),
          note: Type.Optional(Nullable(Type.String({ maxLength: 3 }))),
        },
        closed,
      ),
      { minItems: 1, maxItems: 3 },
    ),
    account: Type.String(),
    urgent: Type.Optional(Type.Boolean()),
  },
  { list: 'orders' },
);

let app: FastifyInstance;
before(async () => {
  app = Fastify({
    schemaController: { compilersFactory: COMPILERS },
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, keywords: KEYWORDS, formats: FORMATS } },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) =>
    done(null, parseJson(String(text))),
  );
  app.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof Problem ? 400 : 500).send(error instanceof Problem ? errorMessage(error) : error),
  );
  app.post('/', { schema: { body: BODY } }, async (request) => request.body);
  await app.ready();
});
after(() => app.close());

async function send(payload: string) {
  const answer = await app.inject({
    method: 'POST',
    url: '/',
    headers: { 'content-type': 'application/json' },
    payload,
  });
  return { status: answer.statusCode, body: answer.json() };
}
const faults = async (payload: string) =>
  ((await send(payload)).body.errors ?? []).map((each: { code: string; details: string; request_index: number }) => [
    each.code,
    each.details.split(':', 1)[0],
    each.request_index,
  ]);

test('a body without a fault is taken; a null that the schema does not know counts as left out', async () => {
  const body = '{"orders": [{"amount": 12.50, "country": null, "note": null}], "account": "A", "urgent": null}';
  assert.deepEqual(await send(body), { status: 200, body: { orders: [{ amount: 12.5, note: null }], account: 'A' } });
});

test('all faults are told: the whole body first, then the elements in their order, each field once', async () => {
  const body = `{"orders": [{"amount": 1, "note": "long"}, {"country": "d", "amont": null}, {"amount": "1"}], "acount": null}`;
  assert.deepEqual(await faults(body), [
    ['required', 'body.account', null],
    ['unknown_field', 'body.acount', null],
    ['invalid_format', 'body.orders[0].note', 0],
    ['required', 'body.orders[1].amount', 1],
    ['invalid_country', 'body.orders[1].country', 1],
    ['unknown_field', 'body.orders[1].amont', 1],
    ['invalid_format', 'body.orders[2].amount', 2],
  ]);
  const { code, message, details } = (await send(body)).body;
  assert.deepEqual([code, message], ['invalid_body', 'A required field is missing']);
  assert.equal(details, 'body.account: is required');
});

test('a wrong type is invalid_format, whatever code the field has', async () => {
  const body = '{"orders": [{"amount": 1, "country": 7}], "account": "A"}';
  assert.deepEqual(await faults(body), [['invalid_format', 'body.orders[0].country', 0]]);
});

test('a field name that could be a bank detail is told without its digits', async () => {
  const body = '{"orders": [{"amount": 1, "DE89370400440532013000": 1}], "account": "A", "line_1234": 1}';
  assert.deepEqual(await faults(body), [
    ['unknown_field', 'body.line_1234', null],
    ['unknown_field', 'body.orders[0].DE********************', 0],
  ]);
});

test('an amount is read by its digits', async () => {
  for (const amount of ['0', '-1', '1e3', '1E2', '0.0', '1000000000000000', '1e-400', '1e400', 'null', '"1"'])
    assert.equal((await send(`{"orders": [{"amount": ${amount}}], "account": "A"}`)).status, 400, amount);
  for (const amount of ['1', '0.01', '999999999999999.99', '1.10', '100000000000000'])
    assert.equal((await send(`{"orders": [{"amount": ${amount}}], "account": "A"}`)).status, 200, amount);
});

test('what is no object has no list of faults', async () => {
  for (const body of ['[]', '"text"', '1', 'null', 'true']) {
    const answer = await send(body);
    assert.deepEqual([answer.status, answer.body.code, 'errors' in answer.body], [400, 'invalid_body', false], body);
  }
});

test('a list is refused by the code that comes first, with every element that causes it', () => {
  const refused = new Map([
    [2, new Problem('beneficiary_not_found', { field: 'beneficiary_id', message: 'does not exist' })],
    [0, new Problem('currency_mismatch', { field: 'beneficiary_id', message: 'takes EUR' })],
    [1, new Problem('beneficiary_not_found', { field: 'beneficiary_id', message: 'does not exist' })],
  ]);
  const problem = refusedElements('payments', refused, ['beneficiary_not_found', 'currency_mismatch']);
  const fault = { code: 'beneficiary_not_found', message: MESSAGES.beneficiary_not_found };
  const details = (index: number) => `body.payments[${index}].beneficiary_id: does not exist`;
  assert.deepEqual(errorMessage(problem), {
    ...{ ...fault, details: details(1) },
    errors: [1, 2].map((index) => ({ ...fault, details: details(index), request_index: index })),
  });
});
