import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createWorld } from '../world/client.ts';
import { startTestService, type TestService } from '../world/service.ts';

const SCOPES = ['read', 'feed', 'identity', 'approvals', 'redeliver', 'unlock', 'changes', 'audit', 'system'];

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service?.stop());

/** A token with these scopes. */
async function tokenWith(...scopes: string[]): Promise<string> {
  const { body, status, text } = await service.operator('POST', '/operator-tokens', { name: randomUUID(), scopes });
  assert.equal(status, 201, text);
  return body.token;
}
const all = (but: string) => SCOPES.filter((scope) => scope !== but);
const refusal = (scope: string) => `token: needs the scope ${scope}`;

describe('routes', () => {
  /** What a call needs, where a GET does not need `read` and another call not `feed`. */
  const NEEDS: [RegExp, string][] = [
    [/^GET \/(mailbox|text-messages)$/, 'identity'],
    [/^(GET|POST|DELETE) \/operator-tokens/, 'system'],
    [/^GET \/(change-consumers|changes)/, 'changes'],
    [/^GET \/erasures/, 'system'],
    [/^GET \/audit/, 'audit'],
    [/^GET /, 'read'],
    [/^POST \/imports\/contacts$/, 'identity'],
    [/^(PUT|DELETE) \/change-consumers/, 'changes'],
    [/^POST \/contacts\/[^/]+\/unlock$/, 'unlock'],
    [/^POST \/contacts\/[^/]+\/erase$/, 'system'],
    [/^(POST|PATCH) \/(contacts|applications)/, 'identity'],
    [/^POST \/(notifications|subscriptions|statements)\//, 'redeliver'],
    [/^(PUT|DELETE) \/clock$/, 'system'],
    [/./, 'feed'],
  ];
  /** Their scope depends on the body or the path; they have tests of their own. */
  const APART = ['PATCH /clients/{client_id}', 'POST /payments/{payment_id}/actions'];

  test('each needs one scope: the others together are refused, and it alone is not', async () => {
    const description = await service.operator('GET', '/openapi.json');
    const calls = Object.entries(description.body.paths as object).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
    );
    const tokens = new Map<string, { alone: string; others: string }>();
    for (const scope of SCOPES) {
      // Who may set a password may lift a lock.
      const others = all(scope).filter((other) => scope !== 'unlock' || other !== 'identity');
      tokens.set(scope, { alone: await tokenWith(scope), others: await tokenWith(...others) });
    }
    for (const [method, path] of calls) {
      const call = `${method} ${path}`;
      if (APART.includes(call) || path.startsWith('/health') || path === '/metrics') continue;
      const scope = NEEDS.find(([pattern]) => pattern.test(call))?.[1] as string;
      const { alone, others } = tokens.get(scope) as { alone: string; others: string };
      const body = method === 'GET' || method === 'DELETE' ? undefined : {};
      const address = path.replaceAll(/\{[^}]+\}/g, 'none');
      const refused = await service.operator(method, address, body, { token: others });
      assert.deepEqual([refused.status, refused.body?.code], [403, 'permission_denied'], call);
      assert.equal(refused.body.details, refusal(scope), call);
      const allowed = await service.operator(method, address, body, { token: alone });
      assert.notEqual(allowed.status, 403, `${call}: ${allowed.text}`);
      assert.notEqual(allowed.status, 401, call);
    }
  });

  test('unlock is included in identity', async () => {
    const answer = await service.operator('POST', '/contacts/none/unlock', {}, { token: await tokenWith('identity') });
    assert.deepEqual([answer.status, answer.body.code], [404, 'contact_not_found']);
  });

  test('the fields of approvals need their scope, at creation, in a change and in an import', async () => {
    const [feed, approvals, both] = [
      await tokenWith('feed'),
      await tokenWith('approvals'),
      await tokenWith('feed', 'approvals'),
    ];
    const { body: client } = await service.operator('POST', '/clients', { client_name: 'A' }, { token: feed });
    const path = `/clients/${client.client_id}`;
    for (const fields of [
      { payment_approvals_enabled: true },
      { payment_creator_approval_enabled: true },
      { authorisation_workflow: '4-eyes' },
    ]) {
      const created = await service.operator('POST', '/clients', { client_name: 'B', ...fields }, { token: feed });
      assert.deepEqual([created.status, created.body.details], [403, refusal('approvals')]);
      const changed = await service.operator('PATCH', path, { client_name: 'C', ...fields }, { token: feed });
      assert.deepEqual([changed.status, changed.body.details], [403, refusal('approvals')]);
      const mixed = await service.operator('PATCH', path, { client_name: 'C', ...fields }, { token: approvals });
      assert.deepEqual([mixed.status, mixed.body.details], [403, refusal('feed')]);
      assert.equal((await service.operator('PATCH', path, fields, { token: approvals })).status, 200);
      assert.equal(
        (await service.operator('POST', '/clients', { client_name: 'D', ...fields }, { token: both })).status,
        201,
      );
    }
    assert.equal((await service.operator('PATCH', path, { client_name: 'E' }, { token: feed })).status, 200);
    const lines = [
      { client_name: 'F' },
      { client_name: 'G', payment_approvals_enabled: true },
      { client_name: 'H', authorisation_workflow: '4-eyes' },
    ];
    const raw = lines.map((line) => JSON.stringify(line)).join('\n');
    const headers = { 'content-type': 'application/x-ndjson' };
    const imported = await service.operator('POST', '/imports/clients', undefined, { token: feed, raw, headers });
    assert.deepEqual([imported.status, imported.body.accepted, imported.body.rejected], [200, 1, 2], imported.text);
    assert.deepEqual(
      imported.body.errors.map(({ line, code, details }: Record<string, unknown>) => [line, code, details]),
      [
        [2, 'permission_denied', refusal('approvals')],
        [3, 'permission_denied', refusal('approvals')],
      ],
    );
    const trusted = await service.operator('POST', '/imports/clients', undefined, { token: both, raw, headers });
    assert.equal(trusted.body.accepted, 3);
  });

  test('an import needs the scope of its kind', async () => {
    const [feed, identity] = [await tokenWith('feed'), await tokenWith('identity')];
    const headers = { 'content-type': 'application/x-ndjson' };
    const send = (kind: string, token: string) =>
      service.operator('POST', `/imports/${kind}`, undefined, { token, raw: '\n', headers });
    for (const kind of ['clients', 'beneficiaries', 'trades', 'payments', 'transactions']) {
      assert.equal((await send(kind, feed)).status, 200, kind);
      assert.equal((await send(kind, identity)).body.details, refusal('feed'), kind);
    }
    assert.equal((await send('contacts', identity)).status, 200);
    assert.equal((await send('contacts', feed)).body.details, refusal('identity'));
  });

  test('authorise and reject need approvals; payments show on whose behalf, the audit row shows both', async () => {
    const world = await createWorld(service, 'Approved', {
      payment_approvals_enabled: true,
      authorisation_workflow: '4-eyes',
    });
    const approver = await world.hire('Approver', { password: 'correct horse battery' });
    const { body: made } = await service.operator('POST', '/operator-tokens', { name: 'desk', scopes: ['approvals'] });
    const feed = await tokenWith('feed');
    const act = async (action: string, token: string) => {
      const { payment_id: id } = (await world.pay()).body;
      const body = { action, contact_id: approver.contactId };
      return { id, answer: await service.operator('POST', `/payments/${id}/actions`, body, { token }) };
    };
    for (const action of ['authorise', 'reject']) {
      const refused = await act(action, feed);
      assert.deepEqual([refused.answer.status, refused.answer.body.details], [403, refusal('approvals')]);
      const { id, answer } = await act(action, made.token);
      assert.equal(answer.status, 200, answer.text);
      const [shown] = answer.body.approvals_workflow.authorisations;
      assert.deepEqual([shown.contact_id, shown.on_behalf_by], [approver.contactId, 'desk']);
      const token = await world.signIn();
      const seen = await service.client(token, 'GET', `/payments/${id}?client_id=${world.clientId}`);
      assert.equal(seen.body.approvals_workflow.authorisations[0].on_behalf_by, 'institution');
      const { body: rows } = await service.operator('GET', `/audit?entity=payment&entity_id=${id}`);
      const row = rows.at(-1);
      assert.deepEqual(
        [row.actor, row.after.contact_id, row.after.on_behalf_by],
        ['operator:desk', approver.contactId, 'desk'],
      );
    }
    const cancelled = await act('cancel', made.token);
    assert.deepEqual([cancelled.answer.status, cancelled.answer.body.details], [403, refusal('feed')]);
    assert.equal((await act('cancel', feed)).answer.status, 200);
    const { payment_id: own } = (await world.pay()).body;
    const person = await service.signIn(approver.email, 'correct horse battery');
    await service.client(person, 'PATCH', `/payments/${own}?client_id=${world.clientId}&action=authorise`);
    const { body } = await service.operator('GET', `/payments/${own}`);
    assert.equal(body.approvals_workflow.authorisations[0].on_behalf_by, null);
    const { rows } = await service.query("select body from webhook_events where body like '%on_behalf_by%desk%'");
    assert.equal(rows.length, 0, 'notifications do not name tokens');
  });
});

describe('tokens', () => {
  const create = (body: object, token = service.operatorToken) =>
    service.operator('POST', '/operator-tokens', body, { token });

  test('a role stands for scopes; role or scopes, not both', async () => {
    const roles = {
      admin: SCOPES,
      core: ['read', 'feed', 'changes'],
      identity: ['read', 'identity'],
      support: ['read', 'redeliver', 'unlock'],
      auditor: ['read', 'audit'],
    };
    for (const [role, scopes] of Object.entries(roles)) {
      const { body } = await create({ name: randomUUID(), role });
      assert.deepEqual([body.role, body.scopes], [role, scopes]);
    }
    const own = await create({ name: randomUUID(), scopes: ['audit', 'read', 'audit'] });
    assert.equal(own.status, 400, 'twice');
    const made = await create({ name: randomUUID(), scopes: ['audit', 'read'] });
    assert.deepEqual([made.body.role, made.body.scopes], [null, ['read', 'audit']]);
    for (const [body, field] of [
      [{ name: 'x', role: 'core', scopes: ['read'] }, 'body.scopes'],
      [{ name: 'x' }, 'body.role'],
      [{ name: 'x', scopes: [] }, 'body.scopes'],
      [{ name: 'x', scopes: ['root'] }, 'body.scopes[0]'],
      [{ name: ' \t\u00a0', role: 'core' }, 'body.name: must not be blank'],
      [{ name: 'x', role: 'core', expires_at: new Date().toISOString() }, 'body.expires_at: must be in the future'],
    ] as const) {
      const answer = await create(body);
      assert.equal(answer.status, 400, answer.text);
      assert.ok(answer.body.details.startsWith(field), answer.body.details);
    }
  });

  test('a token gives only scopes that it has', async () => {
    const system = await tokenWith('system', 'read');
    assert.equal((await create({ name: randomUUID(), scopes: ['read'] }, system)).status, 201);
    const role = await create({ name: randomUUID(), role: 'core' }, system);
    assert.deepEqual([role.status, role.body.details], [403, refusal('feed')]);
    const scopes = await create({ name: randomUUID(), scopes: ['read', 'audit'] }, system);
    assert.deepEqual([scopes.status, scopes.body.details], [403, refusal('audit')]);
  });

  test('names are unique among living tokens, also of two requests at once', async () => {
    const name = randomUUID();
    const answers = await Promise.all(Array.from({ length: 5 }, () => create({ name, role: 'core' })));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409]);
    const refused = answers.find(({ status }) => status === 409);
    assert.deepEqual(
      [refused?.body.code, refused?.body.details],
      ['already_exists', 'body.name: is the name of another token'],
    );
    const made = answers.find(({ status }) => status === 201);
    await service.operator('DELETE', `/operator-tokens/${made?.body.id}`);
    assert.equal((await create({ name, role: 'core' })).status, 201);
    const over = await create({ name: randomUUID(), role: 'core' });
    await service.query("update operator_tokens set expires_at = now() - interval '1 s' where id = $1", [over.body.id]);
    assert.equal((await create({ name: over.body.name, role: 'core' })).status, 201, 'the former has expired');
    assert.equal((await create({ name: 'configured', role: 'core' })).status, 409);
    // Where no token is configured: the next start with LOMBARD_OPERATOR_TOKEN would take over a token of fewer rights.
    await service.query("update operator_tokens set name = 'renamed' where name = 'configured'");
    const reserved = await create({ name: 'configured', role: 'core' });
    await service.query("update operator_tokens set name = 'configured' where name = 'renamed'");
    assert.deepEqual([reserved.status, reserved.body.code], [409, 'already_exists']);
  });
});
