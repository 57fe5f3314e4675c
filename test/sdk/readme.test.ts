import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { OpenApi } from '../../sdk/generate/typescript.ts';
import { Lombard } from '../../sdk/src/index.ts';
import { PERMISSIONS } from '../../src/identity/people/permission.ts';
import { type ApprovalsWorld, approvalsWorld } from '../world/approvals.ts';
import { freePort } from '../world/ports.ts';
import { packSdk, SDK } from '../world/sdk-package.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import { createApplication, tokensOf } from '../world/visitor.ts';

/** Each example of the SDK's README runs, with the package as it is published. */

const README = readFileSync(join(SDK, 'README.md'), 'utf8');
const EXAMPLES = [...README.matchAll(/^```js\n([\s\S]*?)^```/gm)].map(([, code = '']) => code);
const CLIENT = EXAMPLES[0]?.slice(0, EXAMPLES[0].indexOf('\nfor await')) ?? '';

let service: TestService;
let world: ApprovalsWorld;
let packed: ReturnType<typeof packSdk>;
let project: string;
let environment: Record<string, string>;

before(async () => {
  packed = packSdk();
  project = packed.project('module');
  service = await startTestService();
  world = await approvalsWorld(service, [], { authorisation_workflow: '4-eyes' });
  await world.hire('grace', [...PERMISSIONS]);
  for (const amount of ['1250.50', '12345678901234567.89', '3']) await world.create(amount);
  const client = { client_id: world.clientId };
  const { body } = await service.operator('POST', '/currency-accounts', { ...client, currency: 'EUR' });
  const credit = { kind: 'CREDIT_TRANSACTION', amount: { amount: '1000.00', currency: 'EUR' } };
  await service.operator('POST', '/transactions', { ...client, currency_account_id: body.account_id, ...credit });
  const application = await createApplication(service);
  environment = {
    PATH: process.env.PATH ?? '',
    BASE_URL: service.api,
    AUTH_URL: service.auth,
    CLIENT_ID: world.clientId,
    ACCESS_TOKEN: world.person('grace').token,
    REFRESH_TOKEN: (await tokensOf(service, application, world)).refresh_token,
    APPLICATION_ID: application.id,
    APPLICATION_SECRET: application.secret,
    WEBHOOK_SECRET: 'a secret of the examples',
  };
});
after(async () => {
  await service.stop();
  packed.remove();
});

/** Starts an example; without a client of its own it gets the first example's. */
function start(index: number, more: Record<string, string> = {}) {
  const code = EXAMPLES[index] ?? '';
  const needsClient = /\blombard\./.test(code) && !code.includes('new Lombard(');
  const file = `example-${index}.js`;
  writeFileSync(join(project, file), needsClient ? `${CLIENT}\n${code}` : code);
  const child = spawn(process.execPath, [file], { cwd: project, env: { ...environment, ...more } });
  let [output, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (errors += text));
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  return { child, ended, output: () => output, errors: () => errors };
}

EXAMPLES.forEach((code, index) => {
  const [heading] = README.slice(0, README.indexOf(code)).match(/(?<=^## ).*$(?![\s\S]*^## )/m) ?? [];
  if (code.includes('createServer(')) return;
  test(`example ${index + 1} runs: ${heading}`, async () => {
    const example = start(index);
    assert.equal(await example.ended, 0, example.errors());
    assert.equal(example.errors(), '');
    if (code.includes('decimal(')) assert.match(example.output(), /^1250\.50 EUR\n12345678901234567\.89 EUR\n/);
  });
});

test('the receiver takes what the service sends, and answers 401 to anything else', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/lombard`;
  const receiver = start(
    EXAMPLES.findIndex((code) => code.includes('createServer(')),
    { WEBHOOK_URL: url, WEBHOOK_PORT: String(port) },
  );
  try {
    const answer = await until(() => fetch(url, { method: 'POST', body: '{}' }).catch(() => undefined));
    assert.deepEqual([answer.status, await answer.text()], [401, 'signature_invalid']);
    const lombard = new Lombard({ baseUrl: service.api, clientId: world.clientId, accessToken: world.owner.token });
    const secret = environment.WEBHOOK_SECRET ?? '';
    const { id } = await lombard.subscriptions.create({ url, types: ['PAYMENT_STATUS_CHANGE'], active: true, secret });
    await lombard.subscriptions.ping(id);
    await world.create();
    const says = [/ PING\n/, / PAYMENT_STATUS_CHANGE\nPayment pending/];
    const seen = () => receiver.output() + receiver.errors();
    await until(() => says.every((line) => line.test(receiver.output())) || receiver.child.exitCode !== null, { seen });
    assert.equal(receiver.child.exitCode, null, seen());
  } finally {
    receiver.child.kill();
    await receiver.ended;
  }
});

test('the table names every operation of the API, and no other', async () => {
  const document = (await (await fetch(`${service.api}/openapi.json`)).json()) as OpenApi;
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const named = [...README.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/[\w/{}-]+)(?= \||\sis a stream)/g)].map(
    ([, method, path]) => `${method} ${path}`,
  );
  assert.deepEqual(named.sort(), operations.sort());
  const lombard = new Lombard({ baseUrl: service.api, clientId: 'C' }) as unknown as Record<
    string,
    Record<string, unknown>
  >;
  const rows = README.slice(README.indexOf('## Every operation')).matchAll(/`(\w+)\.(\w+)\(/g);
  for (const [, group = '', method = ''] of rows)
    assert.equal(typeof lombard[group]?.[method], 'function', `${group}.${method}`);
});
