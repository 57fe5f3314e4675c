import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, test } from 'node:test';
import { createAddressOf } from '../../src/http/server/caller-address.ts';
import { readConfig } from '../../src/settings/config.ts';
import { createWorld } from '../world/client.ts';
import { createDatabase } from '../world/database.ts';
import { call, startTestService, type TestService } from '../world/service.ts';
import { createApplication } from '../world/visitor.ts';

describe('the address of a caller', () => {
  const cases: [string, Record<string, string>, string, string, string][] = [
    ['nobody is believed', {}, '10.0.0.1', '198.51.100.7', '10.0.0.1'],
    ['a proxy', { LOMBARD_PROXIES: '10.0.0.0/8' }, '10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['as IPv4 within IPv6', { LOMBARD_PROXIES: '10.0.0.0/8' }, '::ffff:10.0.0.1', '198.51.100.7', '198.51.100.7'],
    [
      'what the caller made up stays behind',
      { LOMBARD_PROXIES: '10.0.0.0/8' },
      '10.0.0.1',
      '1.1.1.1, 198.51.100.7',
      '198.51.100.7',
    ],
    ['two proxies', { LOMBARD_PROXIES: '10.0.0.0/8' }, '10.0.0.1', '1.1.1.1, 198.51.100.7, 10.9.9.9', '198.51.100.7'],
    ['a stranger is no proxy', { LOMBARD_PROXIES: '10.0.0.0/8' }, '192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['with a port', { LOMBARD_PROXIES: '10.0.0.0/8' }, '10.0.0.1', '198.51.100.7:4711', '198.51.100.7'],
    ['IPv6', { LOMBARD_PROXIES: '10.0.0.0/8' }, '10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['nonsense', { LOMBARD_PROXIES: '10.0.0.0/8' }, '10.0.0.1', '198.51.100.7, unknown', '10.0.0.1'],
    ['nothing', { LOMBARD_PROXIES: '10.0.0.0/8' }, '10.0.0.1', '', '10.0.0.1'],
    ['only proxies', { LOMBARD_PROXIES: '10.0.0.0/8' }, '10.0.0.1', '10.0.0.2', '10.0.0.2'],
  ];
  for (const [name, environment, socket, header, expected] of cases)
    test(name, () => {
      const of = (more: object, headers: Record<string, string>) =>
        createAddressOf(readConfig({ ...environment, ...more }))({
          socket: { remoteAddress: socket },
          headers,
        } as unknown as IncomingMessage);
      assert.equal(of({}, { 'x-forwarded-for': header, forwarded: 'for=203.0.113.9' }), expected);
      const forwarded = header
        .split(',')
        .map((one) => `for="${one.trim()}";proto=https;by="a,b;c"`)
        .join(', ');
      const rfc7239 = { LOMBARD_PROXY_HEADER: 'forwarded' };
      assert.equal(of(rfc7239, { forwarded, 'x-forwarded-for': '203.0.113.9' }), expected);
    });
});

describe('the authorization server', () => {
  const LIMIT = 6;
  async function limited(work: (service: TestService) => Promise<void>, more: Record<string, string> = {}) {
    const service = await startTestService({
      LOMBARD_AUTH_RATE: String(LIMIT),
      LOMBARD_PROXIES: '127.0.0.0/8',
      ...more,
    });
    try {
      await work(service);
    } finally {
      await service.stop();
    }
  }
  const get = (service: TestService, path: string, address: string) =>
    call(`${service.auth}${path}`, 'GET', { headers: { 'x-forwarded-for': address } });
  const post = (service: TestService, path: string, address: string, headers: Record<string, string> = {}) =>
    call(`${service.auth}${path}`, 'POST', {
      raw: `grant_type=refresh_token&refresh_token=x${headers.authorization ? '' : '&email=a@b.c&password=x&client_id=x'}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': address, ...headers },
    });

  test('an address has a limit for each kind of request, and locks out no other address', () =>
    limited(async (service) => {
      const kinds = [
        (address: string) => get(service, '/.well-known/openid-configuration', address),
        (address: string) => post(service, '/token', address),
        (address: string) => post(service, '/authenticate', address),
      ];
      for (const ask of kinds) {
        for (let count = 0; count < LIMIT; count += 1) assert.notEqual((await ask('198.51.100.1')).status, 429);
        const refused = await ask('198.51.100.1');
        assert.equal(refused.status, 429, refused.text);
        assert.ok(Number(refused.headers.get('retry-after')) > 0);
        assert.notEqual((await ask('198.51.100.2')).status, 429);
      }
    }));

  test('good credentials count against the application, also where the address is used up', () =>
    limited(
      async (service) => {
        const application = await createApplication(service);
        const address = '198.51.100.1';
        for (let count = 0; count <= LIMIT; count += 1) await post(service, '/token', address);
        assert.equal((await post(service, '/token', address)).status, 429);
        const good = () => post(service, '/token', address, { authorization: application.basic });
        // The refresh token is not one, so the answer is 400, to an application that is known.
        for (let count = 0; count < 10; count += 1) assert.equal((await good()).status, 400);
        assert.equal((await good()).status, 429);
        const wrong = `Basic ${Buffer.from(`${application.id}:wrong`).toString('base64')}`;
        assert.equal((await post(service, '/token', address, { authorization: wrong })).status, 429);
      },
      { LOMBARD_API_RATE: '10' },
    ));
});

test('guessing at the API has a limit: of tokens for an address, of clients for an application', async () => {
  const service = await startTestService({ LOMBARD_API_RATE: '5', LOMBARD_PROXIES: '127.0.0.0/8' });
  try {
    const world = await createWorld(service);
    const token = await world.signIn();
    const ask = (bearer: string, client: string, address: string) =>
      service.client(bearer, 'GET', `/payments?client_id=${client}`, { headers: { 'x-forwarded-for': address } });
    for (let count = 0; count < 5; count += 1)
      assert.equal((await ask('a'.repeat(43), world.clientId, '198.51.100.1')).status, 401);
    assert.equal((await ask('b'.repeat(43), world.clientId, '198.51.100.1')).status, 429);
    assert.equal((await ask('b'.repeat(43), world.clientId, '198.51.100.2')).status, 401);

    for (let count = 0; count < 5; count += 1)
      assert.equal((await ask(token, `CLI9${count}`, '198.51.100.3')).status, 404);
    assert.equal((await ask(token, 'CLI99', '198.51.100.3')).status, 429);
    assert.equal((await ask(token, world.clientId, '198.51.100.3')).status, 200);
  } finally {
    await service.stop();
  }
});

test('a limit holds over all processes together, at most a fifth over', async () => {
  const LIMIT = 100;
  const database = await createDatabase();
  const shared = { url: database.url, drop: async () => {} };
  const environment = { LOMBARD_API_RATE: String(LIMIT) };
  const services = [await startTestService(environment, shared), await startTestService(environment, shared)];
  const [one, other] = services as [TestService, TestService];
  try {
    const world = await createWorld(one);
    const token = await world.signIn();
    const ask = async (service: TestService) =>
      (await service.client(token, 'GET', `/payments?client_id=${world.clientId}`)).status;
    // In turns, then all of the rest at once.
    const statuses: number[] = [];
    for (let count = 0; count < LIMIT / 2; count += 1) statuses.push(await ask(count % 2 ? one : other));
    statuses.push(
      ...(await Promise.all(Array.from({ length: 2 * LIMIT }, (_, count) => ask(count % 2 ? one : other)))),
    );
    const allowed = statuses.filter((status) => status === 200).length;
    assert.ok(allowed >= LIMIT && allowed <= LIMIT * 1.2, `${allowed} of ${statuses.length} were allowed`);
    assert.equal(statuses.length - allowed, statuses.filter((status) => status === 429).length);
    for (const service of services) assert.equal(await ask(service), 429);
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    await database.drop();
  }
});
