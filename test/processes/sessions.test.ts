import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { accessToken } from '../world/access-token.ts';
import { createWorld } from '../world/client.ts';
import { Fleet, type Member, SIZES } from '../world/fleet.ts';
import { APPLICATION, call } from '../world/service.ts';
import { until } from '../world/until.ts';

/** Sessions, revocation and rate limits over 1, 2, 4 and 8 services with all listeners. */

/** Requests a minute: of an application for a client at the API, and of an address at the authorization server. */
const API_RATE = 120;
const AUTH_RATE = 60;
/** Between two looks at a revocation, in milliseconds: half a minute of looks at 8 services stays below the rate. */
const LOOK_INTERVAL_MS = 2_000;

let fleet: Fleet;
before(async () => {
  fleet = await Fleet.create({
    LOMBARD_ROLES: 'api,auth,operator',
    LOMBARD_API_RATE: String(API_RATE),
    LOMBARD_AUTH_RATE: String(AUTH_RATE),
    LOMBARD_PROXIES: '127.0.0.0/8',
  });
});
after(() => fleet.stop());

/** The same request to every service at once. */
const everywhere = <T>(ask: (member: Member) => Promise<T>): Promise<T[]> => fleet.everywhere(ask);

const ask = async ({ api }: Member, token: string, clientId: string) =>
  (await call(`${api}/payments?client_id=${clientId}`, 'GET', { token })).status;

/** Tells a wait when to look. */
function eachInterval(look: () => void): () => void {
  const timer = setInterval(look, LOOK_INTERVAL_MS);
  return () => clearInterval(timer);
}

/** A page of payments, asked for again where the database was too busy to answer. */
async function page(member: Member, token: string, clientId: string): Promise<number> {
  return until(async () => {
    const status = await ask(member, token, clientId);
    return status < 500 && status;
  });
}

const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

const form = (url: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  call(url, 'POST', {
    raw: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });

for (const size of SIZES) {
  test(`${size} of each: a session counts everywhere, and a code is redeemed once`, async () => {
    await fleet.growTo(size);
    const world = await createWorld(fleet);
    const token = await world.signIn();
    const statuses = await everywhere((member) => page(member, token, world.clientId));
    assert.deepEqual(new Set(statuses), new Set([200]));

    const [redirect_uri = ''] = APPLICATION.redirect_uris;
    const application = await fleet.operator('POST', '/applications', { name: 'Codes', redirect_uris: [redirect_uri] });
    const { client_id, client_secret } = application.body;
    const signedIn = await form(
      `${fleet.next().auth}/authenticate`,
      { email: world.email, password: world.password, client_id, state: 'state-of-the-tests' },
      { 'no-redirect': 'application/json' },
    );
    const authorization = basic(client_id, client_secret);
    const fields = { grant_type: 'authorization_code', code: signedIn.body.code, redirect_uri };
    const redeemed = await everywhere(({ auth }) => form(`${auth}/token`, fields, { authorization }));
    assert.equal(redeemed.filter(({ status }) => status === 200).length, 1, JSON.stringify(redeemed));
  });

  test(`${size} of each: what is revoked at one counts nowhere soon after, and nothing else is lost`, async () => {
    const world = await createWorld(fleet);
    const other = await createWorld(fleet, 'To be disabled');
    const [ada, bob, carol] = [await world.hire('Ada'), await world.hire('Bob'), await world.hire('Carol')];
    const { client_id, client_secret } = (
      await fleet.operator('POST', '/applications', { ...APPLICATION, client_id: `app-${size}` })
    ).body;
    const application = `disabled-${size}`;
    const tokens = {
      token: await accessToken(fleet, world.contactId, undefined, { application: client_id }),
      contact: await accessToken(fleet, ada.contactId),
      client: await accessToken(fleet, other.contactId),
      application: await accessToken(fleet, bob.contactId, undefined, { application }),
      none: await accessToken(fleet, carol.contactId),
    };
    const seen = async () => {
      const statuses: Record<string, number[]> = {};
      for (const [what, token] of Object.entries(tokens)) {
        const client = what === 'client' ? other : world;
        statuses[what] = await everywhere((member) => page(member, token, client.clientId));
      }
      return statuses;
    };
    const all = (status: number) => fleet.members.map(() => status);
    assert.deepEqual(await seen(), {
      token: all(200),
      contact: all(200),
      client: all(200),
      application: all(200),
      none: all(200),
    });
    const authorization = basic(client_id, client_secret);
    const revoked = await Promise.all([
      form(`${fleet.next().auth}/revoke`, { token: tokens.token }, { authorization }),
      fleet.operator('PATCH', `/contacts/${ada.contactId}`, { status: 'disabled' }),
      fleet.operator('PATCH', `/clients/${other.clientId}`, { status: 'disabled' }),
      fleet.operator('PATCH', `/applications/${application}`, { status: 'disabled' }),
    ]);
    assert.deepEqual(
      revoked.map(({ status, text }) => (status === 200 ? '' : text)),
      revoked.map(() => ''),
    );
    const wanted = { token: all(401), contact: all(401), client: all(403), application: all(401), none: all(200) };
    await until(async () => isDeepStrictEqual(await seen(), wanted), { seen, on: eachInterval });
  });

  test(`${size} of each: a limit holds over all of them, at most a fifth over`, async (t) => {
    const { clientId, contactId } = await createWorld(fleet);
    const token = await accessToken(fleet, contactId);
    const api = await fleet.allowed(API_RATE, async (member) => (await ask(member, token, clientId)) !== 429);
    const headers = { 'x-forwarded-for': `198.51.100.${size}` };
    const auth = await fleet.allowed(AUTH_RATE, async (member) => {
      const { status } = await call(`${member.auth}/.well-known/openid-configuration`, 'GET', { headers });
      return status !== 429;
    });
    t.diagnostic(`the API allowed ${api.count} of ${API_RATE}, the authorization server ${auth.count} of ${AUTH_RATE}`);
    for (const { count, most } of [api, auth]) assert.ok(count <= most, `${count} requests, at most ${most}`);
  });
}
