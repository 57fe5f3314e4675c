import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { chromium } from 'playwright-core';
import { lombard, PORTS, printed, REPOSITORY, until } from '../world/command.ts';
import { createEmptyDatabase } from '../world/database.ts';
import { type Sandbox, startSandbox } from '../world/demonstration.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  ...['--disable-sync', '--no-first-run'],
];

/** What a start says that has the sample application beside it. */
const LISTENS = '1. Open http://127.0.0.1:3000 and sign in';

let sandbox: Sandbox;
before(async () => {
  // The sample application's port is taken at this start: by us, or by another sandbox of this machine, which could let go of it.
  for (let taken: boolean | undefined; !taken; ) {
    const holder = await holdPort();
    if (taken === undefined) sandbox = await startSandbox();
    else await sandbox.restart();
    await printed({ output: sandbox.output, ended: new Promise(() => {}) }, /docs\/tutorial\.md/);
    taken = !sandbox.output().includes(LISTENS);
    holder?.close();
  }
});
after(() => sandbox.stop());

/** Takes the sample application's port, unless somebody else has it. */
async function holdPort(): Promise<Server | undefined> {
  const holder = createServer();
  const held = once(holder, 'listening').then(
    () => holder,
    () => undefined,
  );
  holder.listen(3_000, '127.0.0.1');
  return held;
}

test('it is short enough to read: under 200 lines', () => {
  const lines = readFileSync(join(REPOSITORY, 'examples/app/app.mjs'), 'utf8').trimEnd().split('\n');
  assert.ok(lines.length < 200, String(lines.length));
});

describe('npm start', () => {
  test('a port that is taken stops nothing; the last lines say what to do next', async () => {
    const next = sandbox.output().split('What to do next:\n\n')[1]?.trimEnd().split('\n') as string[];
    assert.equal(next.length, 5);
    assert.match(next[0] as string, /^ {2}1\. Start again once http:\/\/127\.0\.0\.1:3000 is free/);
    const ready = await fetch(`${sandbox.addresses.operator}/health/ready`);
    assert.equal(ready.status, 200);
  });

  test('where the port is free it runs beside the demonstration, and ends with the service', async () => {
    await sandbox.restart();
    await printed({ output: sandbox.output, ended: new Promise(() => {}) }, /docs\/tutorial\.md/);
    // Another sandbox of this machine may have the port just now.
    if (!sandbox.output().includes(LISTENS)) return;
    assert.match(await (await fetch('http://127.0.0.1:3000/')).text(), /Sample application/);
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
  const origin = `http://127.0.0.1:${await freePort()}`;
  await sandbox.operator('PATCH', '/applications/demo-app', { redirect_uris: [`${origin}/callback`] });
  const { api, auth } = sandbox.addresses;
  const app = spawn(process.execPath, [join(REPOSITORY, 'examples/app/app.mjs')], {
    env: { PATH: process.env.PATH, API_URL: api, AUTH_URL: auth, REDIRECT_URI: `${origin}/callback` },
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
      const came = async () => (await (await page.request.get(origin)).text()).includes('PENDING_OF_AUTHORIZATION');
      if (created) await until(came);
      await route.continue();
    });
    await page.goto(origin);
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
    const forged = await fetch(`${origin}/webhooks`, { method: 'POST', body: '{}' });
    assert.equal(forged.status, 401);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are not signed in.').waitFor();
    const strange = await fetch(`${origin}/callback?code=x&state=made-up`);
    assert.equal(strange.status, 400);
  } finally {
    await browser.close();
    app.kill();
    rmSync(profile, { recursive: true, force: true });
  }
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
