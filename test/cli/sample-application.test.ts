import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { chromium } from 'playwright-core';
import { lombard, PORTS, printed, REPOSITORY } from '../world/command.ts';
import { createEmptyDatabase } from '../world/database.ts';
import { type Sandbox, startSandbox } from '../world/demonstration.ts';
import { freePort, listening } from '../world/ports.ts';
import { until } from '../world/until.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  ...['--disable-sync', '--no-first-run'],
];

let sandbox: Sandbox;
/** The sample application's port is taken at the first start. */
let holder: Server;
let origin: string;
before(async () => {
  holder = createServer();
  const port = await listening(holder);
  origin = `http://127.0.0.1:${port}`;
  sandbox = await startSandbox({ LOMBARD_SAMPLE_PORT: String(port) });
});
after(async () => {
  holder.close();
  await sandbox.stop();
});

/** The lines at the end of a start. */
async function nextSteps({ output }: Pick<Sandbox, 'output'>): Promise<string[]> {
  await printed({ output, ended: new Promise(() => {}) }, /docs\/tutorial\.md/);
  return output().split('What to do next:\n\n')[1]?.split('\n').slice(0, 5) as string[];
}

/** Runs a command line as a person would, in the checkout. */
function shell(command: string): { status: number | null; stdout: string } {
  const { PATH } = process.env;
  const env = { PATH, HOME: sandbox.dataDir };
  return spawnSync('/bin/sh', ['-c', command], { cwd: REPOSITORY, env, encoding: 'utf8' });
}

test('it is short enough to read: under 200 lines', () => {
  const lines = readFileSync(join(REPOSITORY, 'examples/app/app.mjs'), 'utf8').trimEnd().split('\n');
  assert.ok(lines.length < 200, String(lines.length));
});

describe('npm start', () => {
  test('a port that is taken stops nothing; the last lines say what to do next', async () => {
    const [first, ...others] = await nextSteps(sandbox);
    assert.equal(
      first,
      `  1. Start again once ${origin} is free, to see the sample application (its port is taken, or cannot be used).`,
    );
    assert.equal(others.length, 4);
    const ready = await fetch(`${sandbox.addresses.operator}/health/ready`);
    assert.equal(ready.status, 200);
  });

  test('where the port is free it runs beside the demonstration, with its own redirect address, and ends with the service', async () => {
    holder.close();
    await sandbox.restart();
    const [first] = await nextSteps(sandbox);
    assert.match(first as string, new RegExp(`^ {2}1\\. Open ${origin} and sign in`));
    assert.match(await (await fetch(origin)).text(), /Sample application/);
    const { redirect_uris: registered } = await sandbox.operator('GET', '/applications/demo-app');
    assert.deepEqual(registered, [`${origin}/callback`]);
  });

  test('the commands that it prints work as they are', async () => {
    const search = /^curl -s -i .*$/m.exec(sandbox.output())?.[0] as string;
    assert.match(shell(search).stdout, /^HTTP\/1\.1 200 OK/);
    const [, second, third, fourth] = await nextSteps(sandbox);
    const called = (line = '') => /`(.*)`/.exec(line)?.[1]?.replace('npx --no lombard', 'bin/lombard') as string;
    assert.match(shell(called(second)).stdout, /^PAYMENT/);
    assert.equal(shell(called(fourth)).status, 0);
    assert.ok(called(third).startsWith(`LOMBARD_DATA_DIR='${sandbox.dataDir}' bin/lombard listen`));
  });

  test('the pages that it serves show the addresses in use', async () => {
    const { api, auth, operator } = sandbox.addresses;
    for (const listener of [api, operator]) {
      const page = await (await fetch(`${listener}/docs/readme.md`)).text();
      for (const address of [api, auth, operator, origin]) assert.ok(page.includes(address), address);
      assert.doesNotMatch(page, /127\.0\.0\.1:(8080|8081|8443|8090|3000)\b/);
      assert.ok((await (await fetch(`${listener}/docs/tutorial`)).text()).includes(origin));
    }
  });

  test('LOMBARD_SAMPLE_PORT=0 takes a free one, with workers too; addresses of a developer stay', async () => {
    const other = await startSandbox({ LOMBARD_SAMPLE_PORT: '0', LOMBARD_WORKERS: '2' });
    const opened = async () => /Open (http:\S+) and sign in/.exec((await nextSteps(other))[0] as string)?.[1] as string;
    try {
      const first = await opened();
      assert.match(await (await fetch(first)).text(), /Sample application/);
      const registered = async () => (await other.operator('GET', '/applications/demo-app')).redirect_uris;
      assert.deepEqual(await registered(), [`${first}/callback`]);
      const own = ['https://mine.example/callback'];
      await other.operator('PATCH', '/applications/demo-app', { redirect_uris: own });
      await other.restart();
      await opened();
      assert.deepEqual(await registered(), own);
    } finally {
      await other.stop();
    }
  });

  test('--no-demo starts none, and prints no next steps', async () => {
    const database = await createEmptyDatabase();
    const folder = mkdtempSync(join(tmpdir(), 'lombard-no-demo-'));
    const started = lombard(['demo', '--no-demo'], { ...PORTS, LOMBARD_DATA_DIR: folder, DATABASE_URL: database.url });
    await printed(started, /Lombard is ready[\s\S]*operator token .*\n/);
    started.child.kill('SIGTERM');
    const { code, stdout } = await started.ended;
    assert.deepEqual([code, /What to do next/.test(stdout)], [0, false]);
    await database.drop();
    rmSync(folder, { recursive: true });
  });
});

test('a person signs in with a browser, creates a payment, and sees its webhooks arrive', {
  skip: !CHROMIUM,
}, async () => {
  const own = `http://127.0.0.1:${await freePort()}`;
  await sandbox.operator('PATCH', '/applications/demo-app', { redirect_uris: [`${own}/callback`] });
  const { api, auth } = sandbox.addresses;
  const app = spawn(process.execPath, [join(REPOSITORY, 'examples/app/app.mjs')], {
    env: { PATH: process.env.PATH, API_URL: api, AUTH_URL: auth, REDIRECT_URI: `${own}/callback` },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const profile = mkdtempSync(join(tmpdir(), 'lombard-chromium-'));
  await once(app.stdout, 'data');
  const browser = await chromium.launchPersistentContext(profile, {
    ...{ executablePath: CHROMIUM as string, headless: true, args: FLAGS, locale: 'en-GB' },
  });
  try {
    const page = await browser.newPage();
    // The page that shows the payment listens for webhooks only when all of them have come.
    let created = false;
    await page.route('**/events*', async (route) => {
      const came = async () => (await (await page.request.get(own)).text()).includes('PENDING_OF_AUTHORIZATION');
      if (created) await until(came);
      await route.continue();
    });
    await page.goto(own);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.fill('[name=email]', 'ada@ashdown.example');
    await page.fill('[name=password]', 'lombard-sandbox');
    await page.keyboard.press('Enter');
    await page.getByText('Ada Ashdown, Ashdown Imports Ltd').waitFor();
    assert.equal(await page.locator('#payments tr').count(), 21);
    created = true;
    await page.getByRole('button', { name: 'Create a payment' }).click();
    await page.locator('#webhooks tr', { hasText: 'CREATED' }).waitFor();
    const first = page.locator('#webhooks tr', { hasText: /PENDING_OF_AUTHORIZATION/ });
    await first.waitFor();
    assert.match(await first.innerText(), /PaymentStatusChange\s+PAY\d+ PENDING_OF_AUTHORIZATION\s+verified/);
    const forged = await fetch(`${own}/webhooks`, { method: 'POST', body: '{}' });
    assert.equal(forged.status, 401);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are not signed in.').waitFor();
    const strange = await fetch(`${own}/callback?code=x&state=made-up`);
    assert.equal(strange.status, 400);
  } finally {
    await browser.close();
    app.kill();
    rmSync(profile, { recursive: true, force: true });
  }
});
