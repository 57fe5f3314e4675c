import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { type ApprovalsWorld, approvalsWorld } from '../world/approvals.ts';
import { listening } from '../world/ports.ts';
import { packSdk, runtimes } from '../world/sdk-package.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** The package as it is published, in an empty project of each module system, in each runtime that is here. */

const run = promisify(execFile);
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** Reads payments, an error and a notification, and prints what it saw. `I` is how the module system imports. */
const PROGRAM = `
async function main(environment) {
  const lombard = new Lombard({ baseUrl: environment.API, clientId: environment.CLIENT, accessToken: environment.TOKEN });
  const ids = [];
  for await (const payment of lombard.payments.search({ page_size: 1 })) ids.push(payment.payment_id);
  const error = await lombard.payments.get('none').catch((caught) => caught);
  const aborted = await lombard.payments.get('none', { signal: AbortSignal.abort() }).catch((caught) => caught);
  const forged = await verifyNotification({ ...JSON.parse(environment.NOTIFICATION), secret: 'other' }).catch((caught) => caught);
  const { id, type } = await verifyNotification({ ...JSON.parse(environment.NOTIFICATION), tolerance: Infinity });
  const amount = decimal(await lombard.payments.get(ids[0]), 'amount');
  return JSON.stringify({ ids, amount, id, type, code: error.code, lombardError: error instanceof LombardError, aborted: aborted.name, forged: forged.code });
}
`;
const IMPORT = "import { decimal, Lombard, LombardError, verifyNotification } from 'lombard-sdk';";
const REQUIRE = "const { decimal, Lombard, LombardError, verifyNotification } = require('lombard-sdk');";
const PRINT = 'main(process.env).then((text) => console.log(text));';

/** Made with node:crypto: SECRET over the URL and the body, at 1782900000. */
const NOTIFICATION = {
  url: 'https://hooks.example.com/lombard',
  headers: {
    'X-Acme-Client-Id': 'CLI000001',
    'X-Acme-Signature': 'sha3-256=f0032926dd49ef63ba117910e09f61a9351387c30cde62db9aa67c0ab45c066e',
    'X-Acme-Webhook': 'Ping',
    'X-Acme-Notification-Id': '0199b7a0-0000-7000-8000-000000000001',
    'webhook-id': '0199b7a0-0000-7000-8000-000000000001',
    'webhook-timestamp': '1782900000',
    'webhook-signature': 'v1,hms/ZHBhCGL3uwlY2t1ScyZRnOvUJOlif+d/0EVPCrU=',
  },
  body: '{"data":[],"text":"Müller 😀"}',
  secret: SECRET,
};

let service: TestService;
let world: ApprovalsWorld;
let packed: ReturnType<typeof packSdk>;
let projects: Record<'module' | 'commonjs', string>;
let environment: Record<string, string>;
let expected: object;

before(async () => {
  packed = packSdk();
  projects = { module: packed.project('module'), commonjs: packed.project('commonjs') };
  service = await startTestService();
  world = await approvalsWorld(service, ['grace'], { authorisation_workflow: '4-eyes' });
  const ids = [await world.create('12345678901234567.89'), await world.create(2), await world.create(3)];
  environment = {
    PATH: process.env.PATH ?? '',
    API: service.api,
    CLIENT: world.clientId,
    TOKEN: world.person('grace').token,
    NOTIFICATION: JSON.stringify(NOTIFICATION),
  };
  expected = {
    ids,
    amount: '12345678901234567.89',
    id: NOTIFICATION.headers['webhook-id'],
    type: 'PING',
    code: 'payment_not_found',
    lombardError: true,
    aborted: 'AbortError',
    forged: 'signature_invalid',
  };
});
after(async () => {
  await service.stop();
  packed.remove();
});

test('the package holds the builds and the README, depends on nothing and imports nothing from outside', () => {
  const names = execFileSync('tar', ['-tzf', packed.tarball], { encoding: 'utf8' }).trim().split('\n');
  for (const name of names)
    assert.match(name, /^package\/(package\.json|README\.md|dist\/(esm|cjs)\/(generated\/)?[\w-]+\.(js|d\.ts|json))$/);
  for (const build of ['esm', 'cjs']) assert.ok(names.includes(`package/dist/${build}/index.js`));
  const installed = join(projects.module, 'node_modules');
  assert.deepEqual(
    readdirSync(installed).filter((name) => !name.startsWith('.')),
    ['lombard-sdk'],
  );
  const dist = join(installed, 'lombard-sdk/dist');
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((each) => each.endsWith('.js'))) {
    const text = readFileSync(join(dist, name), 'utf8');
    for (const [, from = ''] of text.matchAll(/(?:from |require\(|import\()["']([^"']+)["']/g))
      assert.match(from, /^\.{1,2}\//, name);
    assert.doesNotMatch(text, /\b(process|Buffer|require\('node)\b/, name);
  }
});

for (const { name, command, skip } of runtimes()) {
  const [file = '', ...args] = command;
  const systems: [string, 'module' | 'commonjs', string, string][] = [
    ['an ES module', 'module', 'program.js', IMPORT],
    ['CommonJS', 'commonjs', name === 'Deno' ? 'program.cjs' : 'program.js', REQUIRE],
    ['an ES module in a CommonJS project', 'commonjs', 'program.mjs', IMPORT],
    ['CommonJS in a project of ES modules', 'module', 'program.cjs', REQUIRE],
  ];
  for (const [system, project, program, head] of systems) {
    test(`${name}: ${system}`, { skip }, async () => {
      const cwd = projects[project];
      writeFileSync(join(cwd, program), `${head}\n${PROGRAM}\n${PRINT}\n`);
      const { stdout } = await run(file, [...args, program], { cwd, env: environment });
      assert.deepEqual(JSON.parse(stdout), expected);
    });
  }
}

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);

test('Chromium: the ES module as it is, without a bundler', {
  skip: CHROMIUM === undefined && 'no Chromium on this machine',
}, async () => {
  const dist = join(projects.module, 'node_modules/lombard-sdk/dist/esm');
  // The page's own origin: it serves the files, and passes everything else on to the service.
  const server = createServer(async (request, response) => {
    const path = request.url ?? '/';
    if (path === '/')
      return response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>SDK</title>');
    if (path.startsWith('/sdk/'))
      return response
        .writeHead(200, { 'content-type': 'text/javascript' })
        .end(readFileSync(join(dist, path.slice(5))));
    const answer = await fetch(service.api + path, { headers: { authorization: request.headers.authorization ?? '' } });
    return response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  });
  const origin = `http://127.0.0.1:${await listening(server)}`;
  const profile = mkdtempSync(join(tmpdir(), 'lombard-chromium-'));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM as string,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
  });
  try {
    const page = await browser.newPage();
    await page.goto(origin);
    const program = `(async () => {
      const { decimal, Lombard, LombardError, verifyNotification } = await import('/sdk/index.js');
      ${PROGRAM}
      return main(${JSON.stringify({ ...environment, API: origin })});
    })()`;
    assert.deepEqual(JSON.parse(await page.evaluate<string>(program)), expected);
  } finally {
    await browser.close();
    rmSync(profile, { recursive: true, force: true });
    await new Promise((resolve) => server.close(resolve));
  }
});

describe('types', () => {
  const GOOD = `
import { type Account, decimal, Lombard, type LombardOptions, type Notification, type Operations, type Page, type Payment, verifyNotification } from 'lombard-sdk';
const options: LombardOptions = { baseUrl: new URL('http://a.example'), clientId: 'C', onTokens: async ({ expiresAt }) => void expiresAt.getTime() };
const lombard = new Lombard({ ...options, fetch, application: { id: 'a' } });
export async function main(signal: AbortSignal | undefined): Promise<void> {
  for await (const payment of lombard.payments.search({ status: 'pending', page_size: 5 }, { signal })) {
    const status: 'Payment complete' | string = payment.status;
    const exact: string = decimal(payment, 'amount');
    const fee: string | null = decimal({ ...payment }, 'fee_amount');
    void [status, exact, fee];
  }
  const search: AsyncIterable<Payment> & { page(n?: number): Promise<{ items: Payment[]; total: number; page: number; pageSize: number }>; readonly total: Promise<number> } = lombard.payments.search();
  const page: Page<Payment> = await search.page();
  const account: Account = await lombard.accounts.get('id');
  const bytes: Uint8Array = await lombard.documents.get('pi', 'PAY1', { signal });
  const nothing: void = await lombard.payments.authorise('PAY1', { signal });
  const { body, status } = await lombard.call('GET /payments/{payment_id}', { path: { payment_id: 'PAY1' } });
  const list: Operations['GET /accounts/currency-accounts']['response'] = (await lombard.call('GET /accounts/currency-accounts')).body;
  await lombard.approvals.replace({ groups: [{ name: 'a', users: [{ id: 'c' }] }], ruleset: { currency: 'EUR', rules: [] } });
  await lombard.subscriptions.update('id', { types: ['DEBIT_TRANSACTION'], secret: null });
  const one: Notification = await verifyNotification({ url: 'u', headers: new Headers(), body: new Uint8Array(), secret: ['a', 'b'], tolerance: 5 });
  if (one.type === 'PAYMENT_STATUS_CHANGE') void [one.body.data[0]?.amount, one.body.payment_webhook_status[0]];
  void [page, account, bytes, nothing, body.amount, status, list];
}`;
  /** Each must not compile: the line, and tsc's error. */
  const BAD: [string, number][] = [
    ["new Lombard({ baseUrl: 'http://a.example' });", 2741],
    ["new Lombard({ baseUrl: 'http://a.example', clientId: 'C', retry: 1 });", 2353],
    ["lombard.payments.search({ status: 'open' });", 2322],
    ["lombard.payments.search({ client_id: 'C' });", 2353],
    ["lombard.payments.search({ page_size: '5' });", 2322],
    ["lombard.payments.search({}, 'now');", 2559],
    ['lombard.payments.get();', 2554],
    ["lombard.payments.approve('P');", 2339],
    ['const total: number = lombard.payments.search().total;', 2322],
    ['lombard.payments.search().total = Promise.resolve(1);', 2540],
    ["lombard.documents.get('pdf', 'P');", 2345],
    ["lombard.statements.request({ date_from: '2026-07-01' });", 2741],
    ['lombard.approvals.replace({ groups: [] });', 2741],
    ["lombard.subscriptions.create({ url: 'https://a.example', types: ['PING'] });", 2322],
    ["lombard.subscriptions.create({ url: 'https://a.example' });", 2741],
    ["lombard.call('GET /nothing');", 2345],
    ["lombard.call('GET /accounts/{account_id}');", 2554],
    ["lombard.call('GET /accounts/{account_id}', { path: {} });", 2741],
    ["void (await lombard.payments.get('P')).ammount;", 2551],
    ["decimal(await lombard.payments.get('P'), 'status');", 2345],
    ["const exact: string = decimal(await lombard.payments.get('P'), 'fee_amount');", 2322],
    ["verifyNotification({ url: 'u', headers: {}, body: { data: [] }, secret: 's' });", 2353],
    ["verifyNotification({ url: 'u', headers: {}, body: '' });", 2741],
    [
      "const notification = await verifyNotification({ url: 'u', headers: {}, body: '', secret: '' }); notification.body.nothing;",
      2339,
    ],
  ];
  const HEAD =
    "import { decimal, Lombard, verifyNotification } from 'lombard-sdk';\ndeclare const lombard: Lombard;\nvoid [decimal, Lombard, verifyNotification, lombard];\n";
  const tsc = join(import.meta.dirname, '../../node_modules/.bin/tsc');

  async function compile(cwd: string, files: string[], ...flags: string[]): Promise<string> {
    const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--ignoreConfig', '--target', 'es2022'];
    return run(tsc, [...strict, ...flags, ...files], { cwd }).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
  }

  const types = ['--typeRoots', join(import.meta.dirname, '../../node_modules/@types')];
  for (const [name, project, file, flags] of [
    ['an ES module, DOM', 'module', 'good.ts', ['--module', 'nodenext']],
    [
      'an ES module, Node without DOM',
      'module',
      'good-node.ts',
      ['--module', 'nodenext', '--lib', 'es2023', '--types', 'node', ...types],
    ],
    ['CommonJS', 'commonjs', 'good.ts', ['--module', 'nodenext']],
    ['a bundler', 'module', 'good-bundled.ts', ['--module', 'esnext', '--moduleResolution', 'bundler']],
  ] as const) {
    test(`what is right compiles: ${name}`, async () => {
      writeFileSync(join(projects[project], file), GOOD);
      assert.equal(await compile(projects[project], [file], ...flags), '');
    });
  }

  test('what is wrong does not compile, for the reason that is meant', async () => {
    const files = BAD.map(([line], index) => {
      writeFileSync(join(projects.module, `bad-${index}.ts`), `${HEAD}${line}\nexport {};\n`);
      return `bad-${index}.ts`;
    });
    const output = await compile(projects.module, files, '--module', 'nodenext');
    const found = [...output.matchAll(/^bad-(\d+)\.ts\((\d+),\d+\): error TS(\d+)/gm)].map((match) =>
      match.slice(1).map(Number),
    );
    found.sort(([one = 0], [other = 0]) => one - other);
    assert.deepEqual(
      found,
      BAD.map(([, code], index) => [index, 4, code]),
      output,
    );
  });
});
