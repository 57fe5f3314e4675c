import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Command, lombard, printed } from '../world/command.ts';
import { type Sandbox, startSandbox } from '../world/demonstration.ts';
import { until } from '../world/until.ts';
import { Visitor } from '../world/visitor.ts';

/** A database trip later an access token of an hour has expired. */
const HOUR_SECONDS = 3_601;
/** Milliseconds that a command has to end. */
const MAX_END_MS = 20_000;
let sandbox: Sandbox;
/** The environment away from the sandbox's directory, where somebody has to sign in. */
let away: Record<string, string>;
before(async () => {
  sandbox = await startSandbox();
  away = { ...sandbox.environment, LOMBARD_DATA_DIR: join(sandbox.dataDir, '..', 'none') };
});
after(() => sandbox.stop());

const addresses = () => ['--api-url', sandbox.addresses.api, '--auth-url', sandbox.addresses.auth];
const run = (...args: string[]) => lombard(args, away).ended;
const profileFile = (name: string) => join(sandbox.environment.XDG_CONFIG_HOME as string, 'lombard', `${name}.json`);

/** The sign-in page that a command printed, filled in by a person. @returns where the browser is sent to */
async function signInAt(address: string, email = 'chloe@ashdown.example'): Promise<URL> {
  const browser = new Visitor();
  const page = await browser.get(address);
  assert.equal(page.status, 200, page.text);
  const { location } = await browser.submit(page, { email, password: 'lombard-sandbox' });
  assert.ok(location);
  return location;
}

async function addressOf(login: Command): Promise<string> {
  return (await printed(login, /(http:\/\/\S+\/authenticate\?\S+)/))[1] as string;
}

async function login(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const started = lombard(['login', '--headless', ...addresses(), ...args], away);
  const answer = await fetch(await signInAt(await addressOf(started)));
  assert.deepEqual(
    [answer.status, await answer.text()],
    [200, 'You are signed in. You can close this page and go back to the terminal.\n'],
  );
  return started.ended;
}

describe('login, whoami, logout', () => {
  test('signs in by the redirect to any port, acts as that contact, refreshes, revokes', async () => {
    assert.equal((await run('whoami')).code, 3);
    const { code, stdout } = await login();
    assert.equal(code, 0);
    assert.match(stdout, /signed in as Chloé Martin \(CON000003\); client CLI000001\n$/);
    assert.equal(statSync(profileFile('default')).mode & 0o777, 0o600);
    const known = JSON.parse((await run('whoami', '--json')).stdout);
    assert.deepEqual(
      [known.contact_id, known.email, known.application],
      ['CON000003', 'chloe@ashdown.example', 'lombard-cli'],
    );
    assert.deepEqual(known.clients, [{ client_id: 'CLI000001', client_name: 'Ashdown Imports Ltd' }]);
    assert.equal((await run('payments', 'list', '--page-size', '1')).code, 0);

    const before = JSON.parse(readFileSync(profileFile('default'), 'utf8'));
    await sandbox.operator('PUT', '/clock', { advance_seconds: HOUR_SECONDS });
    await until(async () => {
      const headers = { authorization: `Bearer ${before.access_token}` };
      return (await fetch(`${sandbox.addresses.auth}/userinfo`, { headers })).status === 401;
    });
    assert.equal((await run('accounts')).code, 0);
    const later = JSON.parse(readFileSync(profileFile('default'), 'utf8'));
    assert.notEqual(later.access_token, before.access_token);
    assert.equal((await run('whoami')).code, 0);

    assert.equal((await run('logout')).code, 0);
    assert.equal(existsSync(profileFile('default')), false);
    assert.deepEqual([(await run('accounts')).code, (await run('logout')).code], [3, 3]);
    const headers = { authorization: `Bearer ${later.access_token}` };
    const url = `${sandbox.addresses.api}/accounts/currency-accounts?client_id=CLI000001`;
    await until(async () => (await fetch(url, { headers })).status === 401);
    await sandbox.operator('DELETE', '/clock');
  });

  test('the redirected address may come on standard input; profiles are kept apart', async () => {
    const started = lombard(['login', '--headless', '--profile', 'second', '--json', ...addresses()], away, 'pipe');
    const redirected = await signInAt(await addressOf(started).then((text) => text.replace(/".*$/, '')));
    started.child.stdin?.write('nonsense\n');
    started.child.stdin?.write(`${redirected.href.replace('state=', 'state=other')}\n${redirected}\n`);
    const { code, stdout, stderr } = await started.ended;
    assert.equal(code, 0, stderr);
    assert.match(stderr, /not an address[\s\S]*another sign-in/);
    assert.deepEqual(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? ''), {
      ...{ profile: 'second', contact_id: 'CON000003', client_id: 'CLI000001' },
    });
    assert.equal((await run('accounts')).code, 3);
    assert.equal((await run('accounts', '--profile', 'second')).code, 0);
    await run('logout', '--profile', 'second');
  });

  test('listen ends with 3 once its sign-in has ended', async () => {
    const started = lombard(['login', '--headless', '--profile', 'heard', ...addresses()], away);
    await fetch(await signInAt(await addressOf(started), 'ada@ashdown.example'));
    await started.ended;
    const listening = lombard(['listen', '--forward-to', 'http://127.0.0.1:9/hook', '--profile', 'heard'], away);
    await printed(listening, /whsec_/);
    assert.equal((await run('logout', '--profile', 'heard')).code, 0);
    const timer = setTimeout(() => listening.child.kill('SIGKILL'), MAX_END_MS);
    const { code, stdout, stderr } = await listening.ended.finally(() => clearTimeout(timer));
    assert.deepEqual([code, /0 came, 0 accepted, 0 failed\n$/.test(stdout)], [3, true], stderr);
    assert.match(
      stderr,
      /could not be removed \(authentication_failed\)[^\n]*\nlombard: .*lombard login signs in again\n$/,
    );
  });

  test('a redirect of another sign-in ends nothing; an error ends it; Ctrl-C is 130', async () => {
    const started = lombard(['login', '--headless', ...addresses()], away);
    const asked = new URL(await addressOf(started));
    const redirect = new URL(asked.searchParams.get('redirect_uri') as string);
    assert.match(redirect.href, /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    const visit = async (fields: Record<string, string>) => {
      redirect.search = new URLSearchParams(fields).toString();
      return (await fetch(redirect)).status;
    };
    const state = asked.searchParams.get('state') as string;
    const iss = sandbox.addresses.auth;
    assert.equal(await visit({ code: 'made-up', state: 'guessed', iss }), 400);
    assert.equal(await visit({ code: 'made-up', state, iss: 'https://elsewhere.example' }), 400);
    assert.equal(await visit({ error: 'access_denied', state, iss }), 400);
    const { code, stderr } = await started.ended;
    assert.deepEqual([code, stderr], [1, 'lombard: access_denied: the sign-in failed\n']);
    const other = lombard(['login', '--headless', ...addresses()], away);
    await addressOf(other);
    other.child.kill('SIGINT');
    assert.equal((await other.ended).code, 130);
  });

  test('opens the browser; finds the authorization server by the client API', async () => {
    const bin = join(sandbox.dataDir, '..', 'bin');
    const opened = join(bin, 'opened');
    mkdirSync(bin);
    writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\necho "$1" > ${opened}\n`);
    chmodSync(join(bin, 'xdg-open'), 0o755);
    const started = lombard(['login', '--api-url', sandbox.addresses.api], {
      ...away,
      PATH: `${bin}:${process.env.PATH}`,
    });
    const address = await addressOf(started);
    await until(() => existsSync(opened) && readFileSync(opened, 'utf8').trim() === address);
    await fetch(await signInAt(address));
    assert.equal((await started.ended).code, 0);
    await run('logout');
    assert.equal((await run('login')).code, 2);
    assert.equal((await run('login', '--api-url', 'nowhere')).code, 2);
  });
});

describe('the application lombard-cli', () => {
  const token = (fields: Record<string, string>, path = '/token') =>
    new Visitor().post(`${sandbox.addresses.auth}${path}`, fields, { accept: '*/*' });

  test('has no secret, no other redirect address, no headless sign-in, and needs PKCE', async () => {
    const found = await sandbox.operator('GET', '/applications/lombard-cli');
    assert.deepEqual([found.status, found.public_client, found.headless_sign_in], ['enabled', true, false]);
    await assert.rejects(sandbox.operator('POST', '/applications/lombard-cli/secret', {}), /400.*path\.client_id/);
    const page = async (fields: Record<string, string>) => {
      const request = { client_id: 'lombard-cli', scope: 'openid', response_type: 'code', state: 's', ...fields };
      return new Visitor().get(`${sandbox.addresses.auth}/authenticate?${new URLSearchParams(request)}`);
    };
    for (const redirect_uri of [
      ...['https://127.0.0.1:7/callback', 'http://127.0.0.1:7/other', 'http://localhost:7/callback'],
      ...[
        'http://127.0.0.1:7/callback?x',
        'http://127.0.0.1:7@evil.example/callback',
        'http://127.0.0.1.evil.example:7/callback',
      ],
    ]) {
      const { status, location } = await page({ redirect_uri });
      assert.deepEqual([status, location], [400, undefined], redirect_uri);
    }
    const { location } = await page({ redirect_uri: 'http://127.0.0.1:7/callback' });
    assert.match(location?.searchParams.get('error_description') ?? '', /code_challenge: is required/);
    const form = { email: 'ada@ashdown.example', password: 'lombard-sandbox', client_id: 'lombard-cli', state: 's' };
    assert.equal((await token(form, '/authenticate')).body?.error, 'unauthorized_client');
    const asked = await token({ client_id: 'lombard-cli', token: 'x' }, '/introspect');
    assert.deepEqual([asked.status, asked.body.error], [401, 'invalid_client']);
    const other = await token({ client_id: 'demo-app', grant_type: 'refresh_token', refresh_token: 'x' });
    assert.deepEqual([other.status, other.body.error], [401, 'invalid_client']);
  });

  test('the institution can disable it: nobody signs in, and its tokens end', async () => {
    await login('--profile', 'third');
    await sandbox.operator('PATCH', '/applications/lombard-cli', { status: 'disabled' });
    await until(async () => (await run('accounts', '--profile', 'third')).code === 3);
    const refused = await token({ client_id: 'lombard-cli', grant_type: 'refresh_token', refresh_token: 'x' });
    assert.equal(refused.body.error, 'invalid_client');
    await sandbox.operator('PATCH', '/applications/lombard-cli', { status: 'enabled' });
  });
});
