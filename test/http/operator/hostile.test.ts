import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DescriptionJudge } from '../../world/description.ts';
import { type Answer, call, startTestService, type TestService } from '../../world/service.ts';

/**
 * Every parameter and every field of every operation, with values that nobody should send: none is a failure of the service, each answer
 * is a described one, and each refusal names its field in words that a caller understands.
 */

// biome-ignore lint/suspicious/noExplicitAny: a document of another standard
type Json = any;

interface Operation {
  method: string;
  path: string;
  query: string[];
  /** The schema of the body. */
  body: Json;
  /** A body that the description shows. */
  example: Json;
}

let service: TestService;
let operations: Operation[];
let judge: DescriptionJudge;
before(async () => {
  service = await startTestService();
  const { body: document } = await call(`${service.operatorUrl}/openapi.json`, 'GET');
  judge = new DescriptionJudge('operator interface', document);
  operations = operationsOf(document);
  assert.ok(operations.length > 60, `${operations.length} operations`);
});
after(() => service?.stop());

function bodyOf(media: Json, resolve: (part: Json) => Json): { body: Json; example: Json } {
  const body = resolve(media?.schema);
  const [shown] = Object.values<Json>(media?.examples ?? {});
  return { body, example: media?.example ?? shown?.value ?? body?.examples?.[0] ?? {} };
}

/** All but the imports, whose lines test/imports/ has. */
function operationsOf(document: Json): Operation[] {
  const resolve = (part: Json): Json =>
    part?.$ref === undefined
      ? part
      : part.$ref
          .slice(2)
          .split('/')
          .reduce((at: Json, name: string) => at[name], document);
  return Object.entries<Json>(document.paths)
    .filter(([path]) => !path.startsWith('/imports/'))
    .flatMap(([path, item]) =>
      ['get', 'put', 'post', 'patch', 'delete']
        .filter((method) => item[method])
        .map((method) => ({
          method: method.toUpperCase(),
          path,
          query: (item[method].parameters ?? [])
            .map(resolve)
            .flatMap((at: Json) => (at.in === 'query' ? [at.name] : [])),
          ...bodyOf(resolve(item[method].requestBody)?.content?.['application/json'], resolve),
        })),
    );
}

const HUGE = 'x'.repeat(3_000);
/** As they stand in a query. */
const TEXTS = [
  '',
  '%20',
  '-1',
  '1.5',
  '99999999999999999999',
  '%00',
  '%FF',
  '%E2%80%AE',
  '9999-12-31',
  '0001-01-01',
  HUGE,
];
const VALUES = ['', ' ', 'x', -1, 1e300, 0.5, true, null, [], [null], {}, '\0', '\ud800', HUGE, [HUGE], '9999-12-31'];
/** Words of a validator, a database or a program, which tell a caller nothing. */
const NOT_WORDS =
  /\^|\\|must match|have the format|undefined|NaN|of type|anyOf|the forms|syntax|relation|column|\bis no\b|is not valid$/;

/** What is wrong with an answer to such a value. */
function faultOf(answer: Answer, { method, path }: Operation, field: string, value: unknown): string[] {
  const what = `${method} ${path} ${field} = ${JSON.stringify(value).slice(0, 30)}: ${answer.status} ${answer.text.slice(0, 250)}`;
  if (answer.status >= 500) return [what];
  try {
    judge.check(method, aimed(path), answer);
  } catch (error) {
    return [`${what}: ${(error as Error).message}`];
  }
  if (answer.status !== 400) return [];
  const { details } = answer.body;
  return details.startsWith(field) && !NOT_WORDS.test(details) ? [] : [what];
}

const aimed = (path: string): string =>
  path.replace('{currency}', 'EUR').replace(/\{\w+\}/g, '8a6e0804-2bd0-4672-b79d-d97027f9071a');

test('each parameter of a query, with each value and twice', async () => {
  const faults: string[] = [];
  for (const each of operations) {
    for (const name of each.query) {
      const values = TEXTS.map((value) => [value, `${name}=${value}`]).concat([['twice', `${name}=1&${name}=2`]]);
      const ask = async ([value, query]: string[]) =>
        faultOf(await service.operator(each.method, `${aimed(each.path)}?${query}`), each, `query.`, value);
      faults.push(...(await Promise.all(values.map(ask))).flat());
    }
  }
  assert.deepEqual(faults, []);
});

test('each field of a body, with each value', async () => {
  const faults: string[] = [];
  for (const each of operations) {
    if (each.body?.type !== 'object') continue;
    for (const field of Object.keys(each.body.properties)) {
      const ask = async (value: unknown) => {
        const answer = await service.operator(each.method, aimed(each.path), { ...each.example, [field]: value });
        return faultOf(answer, each, `body.${field}`, value);
      };
      faults.push(...(await Promise.all(VALUES.map(ask))).flat());
    }
    await service.operator('DELETE', '/clock');
  }
  assert.deepEqual(faults, []);
});

test('each parameter of a path', async () => {
  const faults: string[] = [];
  for (const each of operations.filter(({ path }) => path.includes('{')))
    for (const value of ['%00', '%20', '-1', '99999999999999999999', '%FF', '%F0%9F%92%A5', '..%2f', HUGE]) {
      const path = each.path.replace(/\{\w+\}/g, value);
      const answer = await service.operator(each.method, path, each.body && each.example);
      if (![400, 404, 414].includes(answer.status))
        faults.push(`${each.method} ${path.slice(0, 60)}: ${answer.status} ${answer.text}`);
    }
  assert.deepEqual(faults, []);
});
