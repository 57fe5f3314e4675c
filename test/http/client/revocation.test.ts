import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { accessToken } from '../../world/access-token.ts';
import { createWorld } from '../../world/client.ts';
import { call, startTestService, type TestService } from '../../world/service.ts';
import { until } from '../../world/until.ts';

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service?.stop());

describe('a change right after the revocation was answered is refused', () => {
  /** A world with a payment that its approver may act on, and the approver's token, which the process has in its cache. */
  async function approval() {
    const world = await createWorld(service, 'Revoked', {
      payment_approvals_enabled: true,
      authorisation_workflow: '4-eyes',
    });
    const approver = await world.hire('Approver');
    const token = await accessToken(service, approver.contactId);
    const { payment_id: id } = (await world.pay()).body;
    const path = `/payments/${id}?client_id=${world.clientId}`;
    assert.equal((await service.client(token, 'GET', path)).status, 200);
    const authorise = () => service.client(token, 'PATCH', `${path}&action=authorise`);
    return { world, approver, token, path, authorise };
  }

  test('a contact that was disabled', async () => {
    const { approver, authorise } = await approval();
    await service.operator('PATCH', `/contacts/${approver.contactId}`, { status: 'disabled' });
    assert.equal((await authorise()).status, 401);
  });

  test('a client that was disabled', async () => {
    const { world, authorise } = await approval();
    await service.operator('PATCH', `/clients/${world.clientId}`, { status: 'disabled' });
    const answer = await authorise();
    assert.deepEqual([answer.status, answer.body.code], [403, 'client_disabled']);
  });

  test('a contact that lost its permission', async () => {
    const { world, approver, token, authorise } = await approval();
    const clients = [{ client_id: world.clientId, permissions: ['can_manage_payments'] }];
    await service.operator('PATCH', `/contacts/${approver.contactId}`, { clients });
    assert.deepEqual((await authorise()).body.code, 'permission_denied');
    const query =
      'mutation { createSubscription(input: {subscription: {url: "https://a.example", types: []}}) { __typename } }';
    const subscribe = await service.client(token, 'POST', `/webhooks/graphql?client_id=${world.clientId}`, {
      body: { query },
    });
    assert.equal(subscribe.status, 403, subscribe.text);
  });

  test('a contact that lost its client', async () => {
    const { approver, authorise } = await approval();
    await service.operator('PATCH', `/contacts/${approver.contactId}`, { clients: [] });
    assert.equal((await authorise()).body.code, 'client_not_found');
  });

  test('a token that was revoked', async () => {
    const { token, authorise } = await approval();
    await service.query('update access_tokens set revoked_at = now() where token_sha256 = sha256($1::bytea)', [token]);
    assert.equal((await authorise()).body.code, 'authentication_failed');
  });

  test('a challenge, which sends no text message then', async () => {
    const phone = '+442079460991';
    const world = await createWorld(service, 'Revoked', {
      ...{ payment_approvals_enabled: true, authorisation_workflow: '4-eyes', approval_step_up: true },
    });
    const approver = await world.hire('Approver', { second_factor: 'sms', phone });
    const token = await accessToken(service, approver.contactId);
    const path = `/payments/${(await world.pay()).body.payment_id}`;
    const query = `?client_id=${world.clientId}`;
    assert.equal((await service.client(token, 'GET', path + query)).status, 200);
    await service.operator('PATCH', `/contacts/${approver.contactId}`, { status: 'disabled' });
    assert.equal((await service.client(token, 'POST', `${path}/challenges${query}`)).status, 401);
    const { body: texts } = await service.operator('GET', '/text-messages');
    assert.ok(texts.every(({ to }: { to: string }) => to !== phone));
  });

  test('a token of the operator, also in the middle of an import', async () => {
    const { body: made } = await service.operator('POST', '/operator-tokens', { name: randomUUID(), role: 'core' });
    // A batch of clients has 5,000 lines.
    const imported = async () =>
      (await service.query("select count(*)::int as n from clients where client_id like 'BATCH-%'")).rows[0].n;
    const encode = (from: number, to: number) => {
      const numbers = Array.from({ length: to - from }, (_, index) => from + index);
      const text = numbers.map((n) => `${JSON.stringify({ client_id: `BATCH-${n}`, client_name: 'B' })}\n`).join('');
      return new TextEncoder().encode(text);
    };
    let revoked = false;
    const lines = new ReadableStream({
      async start(controller) {
        controller.enqueue(encode(0, 5_000));
        await until(async () => (await imported()) >= 5_000);
        revoked = (await service.operator('DELETE', `/operator-tokens/${made.id}`)).status === 204;
        controller.enqueue(encode(5_000, 5_001));
        controller.close();
      },
    });
    const answer = await fetch(`${service.operatorUrl}/imports/clients`, {
      method: 'POST',
      body: lines,
      duplex: 'half',
      headers: { authorization: `Bearer ${made.token}`, 'content-type': 'application/x-ndjson' },
    } as RequestInit);
    assert.equal(answer.status, 401, await answer.text());
    assert.ok(revoked);
    assert.equal(await imported(), 5_000);
  });
});

test('a contact that is disabled leaves the sessions of the others in the cache', async () => {
  const world = await createWorld(service);
  const other = await world.hire('Other');
  const path = `/payments?client_id=${world.clientId}`;
  const [token, others] = [await world.signIn(), await accessToken(service, other.contactId)];
  for (const each of [token, others]) assert.equal((await service.client(each, 'GET', path)).status, 200);
  await service.operator('PATCH', `/contacts/${other.contactId}`, { status: 'disabled' });
  await until(async () => (await service.client(others, 'GET', path)).status === 401);
  // Nobody can look a token up now.
  const holder = new pg.Client({ connectionString: service.databaseUrl });
  await holder.connect();
  try {
    await holder.query('begin; lock table access_tokens in access exclusive mode');
    assert.equal((await service.client(token, 'GET', path)).status, 200);
  } finally {
    await holder.end();
  }
});

test('a process that did not see which contact was disabled forgets them all', async () => {
  const world = await createWorld(service);
  const token = await world.signIn();
  const path = `/payments?client_id=${world.clientId}`;
  assert.equal((await service.client(token, 'GET', path)).status, 200);
  // The names of what changed are deleted before anybody can have read them.
  await service.query(`begin; update contacts set status = 'disabled' where contact_id = '${world.contactId}';
    set constraints all immediate; delete from identity_changes; commit`);
  await until(async () => (await service.client(token, 'GET', path)).status === 401);
});

test('what is personal is not kept by caches', async () => {
  const world = await createWorld(service);
  const token = await world.signIn();
  const payments = await service.client(token, 'GET', `/payments?client_id=${world.clientId}`);
  const application = await service.operator('POST', '/applications', {
    name: 'A',
    redirect_uris: ['https://a.example/cb'],
  });
  const refused = await service.client('wrong', 'GET', `/payments?client_id=${world.clientId}`);
  const missing = await service.client(token, 'GET', `/documents?type=pi&id=none&client_id=${world.clientId}`);
  const userinfo = await call(`${service.auth}/userinfo`, 'GET', { token });
  for (const { headers } of [payments, application, refused, missing, userinfo]) {
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
  }
  const discovery = await call(`${service.auth}/.well-known/openid-configuration`, 'GET');
  assert.match(discovery.headers.get('cache-control') ?? '', /public/);
});

test('who guesses client ids is limited', async () => {
  const limited = await startTestService({ LOMBARD_API_RATE: '5' });
  try {
    const { contactId } = await createWorld(limited);
    const token = await accessToken(limited, contactId);
    const guess = (n: number) => limited.client(token, 'GET', `/payments?client_id=GUESS-${n}`);
    const statuses: number[] = [];
    for (let n = 0; n < 7; n += 1) statuses.push((await guess(n)).status);
    assert.deepEqual(statuses, [404, 404, 404, 404, 404, 429, 429]);
  } finally {
    await limited.stop();
  }
});
