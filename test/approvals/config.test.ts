import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { MAX_SAMPLES } from '../../src/approvals/dry-run.ts';
import {
  MAX_ALTERNATIVES,
  MAX_GROUP_NAME_LENGTH,
  MAX_GROUPS,
  MAX_LEVELS,
  MAX_NAMES_PER_ALTERNATIVE,
  MAX_RULES,
  MAX_SCOPE_LENGTH,
  MAX_USERS_PER_GROUP,
} from '../../src/approvals/rules/ruleset.ts';
import { type ApprovalsWorld, approvalsWorld } from '../world/approvals.ts';
import { startTestService, type TestService } from '../world/service.ts';

let service: TestService;
let world: ApprovalsWorld;
before(async () => {
  service = await startTestService();
  world = await approvalsWorld(service, ['ann', 'bob', 'cat']);
});
after(() => service.stop());

const CONFIG = '/approvals-workflow/config';
const post = (body: unknown, query = '') => world.ask(world.owner, 'POST', CONFIG, body, query);
const read = (query = '') => world.ask(world.owner, 'GET', CONFIG, undefined, query);
const versions = async () => Number((await read()).headers.get('x-configuration-version'));

/** A valid configuration that each case spoils in one place. */
function valid() {
  const user = (name: string) => ({ id: world.person(name).id });
  return {
    groups: [
      { name: 'staff', scope: 'payments', users: [user('ann'), user('bob')] },
      { name: 'boss', scope: 'payments', users: [user('cat')] },
    ],
    ruleset: {
      currency: 'EUR',
      rules: [
        { minimum_threshold: 0 as unknown, groups: [{ one_of: [{ all_of: ['staff'] }] }] },
        {
          minimum_threshold: 1000.5 as unknown,
          groups: [{ one_of: [{ all_of: ['staff'] }] }, { one_of: [{ all_of: ['boss'] }] }],
        },
      ],
    },
  };
}

test('before any configuration: no groups, no ruleset, and what was read cannot be sent back', async () => {
  const empty = await read();
  assert.equal(empty.status, 200);
  assert.deepEqual(empty.body, { groups: [], ruleset: null });
  assert.equal(empty.headers.get('x-configuration-version'), '0');
  const back = await post(empty.body);
  assert.equal(back.status, 400);
  assert.match(back.body.details, /^body\.ruleset: /);
});

test('the settings are those of the client', async () => {
  const settings = () => world.ask(world.person('ann'), 'GET', '/approvals-workflow/settings');
  assert.deepEqual((await settings()).body, {
    payment_approvals_enabled: true,
    payment_creator_approval_enabled: false,
  });
  await service.operator('PATCH', `/clients/${world.clientId}`, { payment_creator_approval_enabled: true });
  assert.deepEqual((await settings()).body, {
    payment_approvals_enabled: true,
    payment_creator_approval_enabled: true,
  });
  await service.operator('PATCH', `/clients/${world.clientId}`, { payment_creator_approval_enabled: false });
});

test('a configuration is answered and read in the same shape, with the people as the service knows them and exact numbers', async () => {
  const { groups, ruleset } = valid();
  const before = await versions();
  const sent = JSON.stringify({
    groups: groups.map((group) => ({
      ...group,
      users: group.users.map((user) => ({ ...user, name: 'Mallory', email: 'm@evil.example' })),
    })),
    ruleset,
  }).replace('1000.5', '123456789012345678.12345670');
  const made = await service.client(world.owner.token, 'POST', `${CONFIG}?client_id=${world.clientId}`, {
    raw: sent,
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(made.status, 200, made.text);
  const shown = (name: string) => {
    const { id, email } = world.person(name);
    return { id, name, email };
  };
  assert.deepEqual(made.body.groups, [
    { name: 'staff', scope: 'payments', users: [shown('ann'), shown('bob')] },
    { name: 'boss', scope: 'payments', users: [shown('cat')] },
  ]);
  assert.ok(made.text.includes('"minimum_threshold":123456789012345678.12345670'), made.text);
  assert.equal(made.body.ruleset.currency, 'EUR');
  assert.deepEqual(made.body.ruleset.rules[0].groups, ruleset.rules[0]?.groups);
  const again = await read();
  assert.equal(again.text, made.text);
  assert.equal(Number(again.headers.get('x-configuration-version')), before + 1);
});

test('the scope is optional and kept; each configuration is a version with who and when; the audit trail has it', async () => {
  const body = valid();
  const [group] = body.groups as { scope?: string }[];
  delete group?.scope;
  (body.groups[1] as { scope: string }).scope = 'x'.repeat(MAX_SCOPE_LENGTH);
  const made = await post(body);
  assert.equal(made.status, 200, made.text);
  assert.deepEqual(
    made.body.groups.map((each: { scope: string }) => each.scope),
    ['payments', 'x'.repeat(MAX_SCOPE_LENGTH)],
  );
  const version = Number(made.headers.get('x-configuration-version'));
  const list = await world.ask(world.owner, 'GET', `${CONFIG}/versions`, undefined, '&page_size=1');
  assert.equal(list.headers.get('x-total-count'), String(version));
  assert.equal(list.body.length, 1);
  assert.equal(list.body[0].version, version);
  assert.equal(list.body[0].created_by, `contact:${world.owner.id}`);
  assert.equal(list.body[0].contact_name, 'Owner of Approvals');
  assert.match(list.body[0].created_date, /^\d{4}-\d\d-\d\dT.*[+]0\d:00$/);
  await post(valid());
  assert.equal((await read(`&version=${version}`)).text, made.text);
  assert.equal((await read('&version=999')).body.code, 'invalid_parameter');
  const audit = await service.operator(
    'GET',
    `/audit?entity=approvals_configuration&client_id=${world.clientId}&page_size=1000`,
  );
  const row = audit.body.find((each: { entity_id: string }) => each.entity_id === `${world.clientId} ${version}`);
  assert.equal(row?.actor, `contact:${world.owner.id}`);
});

test('it needs can_manage_permissions, before anything else is looked at', async () => {
  const guest = await world.hire('guest', ['can_authorise_payments', 'can_manage_payments']);
  const before = await versions();
  for (const body of [valid(), { nonsense: true }]) {
    const refused = await world.ask(guest, 'POST', CONFIG, body);
    assert.equal(refused.status, 403);
    assert.equal(refused.body.code, 'permission_denied');
  }
  assert.equal((await world.ask(guest, 'GET', CONFIG)).status, 200);
  assert.equal(await versions(), before);
});

type Body = ReturnType<typeof valid>;
const many = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index));
const level = (body: Body) => body.ruleset.rules[0]?.groups[0] as { one_of: { all_of: string[] }[] };
const rule = (body: Body) => body.ruleset.rules[0] as { minimum_threshold: unknown; groups: unknown[] };

for (const [name, path, spoil] of [
  ['no groups', 'body.groups', (body: Body) => delete (body as Partial<Body>).groups],
  ['no ruleset', 'body.ruleset', (body: Body) => delete (body as Partial<Body>).ruleset],
  ['an unknown contact', 'body.groups[1].users[0].id', (body: Body) => (body.groups[1]!.users[0]!.id = 'CON-nobody')],
  [
    'a contact twice in a group',
    'body.groups[0].users[1].id',
    (body: Body) => (body.groups[0]!.users[1] = body.groups[0]!.users[0]!),
  ],
  ['a group twice', 'body.groups[1].name', (body: Body) => (body.groups[1]!.name = 'staff')],
  ['an empty name', 'body.groups[0].name', (body: Body) => (body.groups[0]!.name = ' ')],
  [
    'a name over its limit',
    'body.groups[0].name',
    (body: Body) => (body.groups[0]!.name = 'n'.repeat(MAX_GROUP_NAME_LENGTH + 1)),
  ],
  [
    'a scope over its limit',
    'body.groups[0].scope',
    (body: Body) => (body.groups[0]!.scope = 's'.repeat(MAX_SCOPE_LENGTH + 1)),
  ],
  ['a NUL in a name', 'body.groups[0].name', (body: Body) => (body.groups[0]!.name = 'a\u0000b')],
  [
    'a negative threshold',
    'body.ruleset.rules[0].minimum_threshold',
    (body: Body) => (rule(body).minimum_threshold = -1),
  ],
  [
    'a threshold that is no number',
    'body.ruleset.rules[0].minimum_threshold',
    (body: Body) => (rule(body).minimum_threshold = 'NaN'),
  ],
  [
    'a threshold that is a text',
    'body.ruleset.rules[1].minimum_threshold',
    (body: Body) => (body.ruleset.rules[1]!.minimum_threshold = '1000.50'),
  ],
  [
    'an infinite threshold',
    'body.ruleset.rules[0].minimum_threshold',
    (body: Body) => (rule(body).minimum_threshold = 'Infinity'),
  ],
  [
    'no threshold',
    'body.ruleset.rules[0].minimum_threshold',
    (body: Body) => delete (rule(body) as Partial<{ minimum_threshold: unknown }>).minimum_threshold,
  ],
  [
    'a threshold twice',
    'body.ruleset.rules[1].minimum_threshold',
    (body: Body) => (body.ruleset.rules[1]!.minimum_threshold = 0),
  ],
  ['no alternatives', 'body.ruleset.rules[0].groups[0].one_of', (body: Body) => (level(body).one_of = [])],
  [
    'an empty alternative',
    'body.ruleset.rules[0].groups[0].one_of[0].all_of',
    (body: Body) => (level(body).one_of[0]!.all_of = []),
  ],
  [
    'an unknown group',
    'body.ruleset.rules[0].groups[0].one_of[0].all_of[0]',
    (body: Body) => (level(body).one_of[0]!.all_of = ['nobody']),
  ],
  ['no levels', 'body.ruleset.rules[0].groups', (body: Body) => (rule(body).groups = [])],
  ['a wrong currency', 'body.ruleset.currency', (body: Body) => (body.ruleset.currency = 'euro')],
  [
    'groups over their limit',
    'body.groups',
    (body: Body) => (body.groups = many(MAX_GROUPS + 1, (n) => ({ name: `g${n}`, scope: 's', users: [] }))),
  ],
  [
    'users over their limit',
    'body.groups[0].users',
    (body: Body) => (body.groups[0]!.users = many(MAX_USERS_PER_GROUP + 1, (n) => ({ id: `C${n}` }))),
  ],
  [
    'rules over their limit',
    'body.ruleset.rules',
    (body: Body) =>
      (body.ruleset.rules = many(MAX_RULES + 1, (n) => ({
        minimum_threshold: n,
        groups: [{ one_of: [{ all_of: ['staff'] }] }],
      }))),
  ],
  [
    'levels over their limit',
    'body.ruleset.rules[0].groups',
    (body: Body) => (rule(body).groups = many(MAX_LEVELS + 1, () => ({ one_of: [{ all_of: ['staff'] }] }))),
  ],
  [
    'alternatives over their limit',
    'body.ruleset.rules[0].groups[0].one_of',
    (body: Body) => (level(body).one_of = many(MAX_ALTERNATIVES + 1, () => ({ all_of: ['staff'] }))),
  ],
  [
    'names over their limit',
    'body.ruleset.rules[0].groups[0].one_of[0].all_of',
    (body: Body) => (level(body).one_of[0]!.all_of = many(MAX_NAMES_PER_ALTERNATIVE + 1, () => 'staff')),
  ],
] as [string, string, (body: Body) => unknown][]) {
  test(`${name}: 400 at ${path}, nothing changed`, async () => {
    const before = await versions();
    const body = valid();
    spoil(body);
    for (const query of ['', '&dry_run=true']) {
      const refused = await post(body, query);
      assert.equal(refused.status, 400, refused.text);
      assert.equal(refused.body.code, 'invalid_body');
      assert.equal(refused.body.details.split(': ')[0], path, refused.body.details);
    }
    assert.equal(await versions(), before);
  });
}

test('bodies that are no configuration', async () => {
  for (const body of [[], 'text', 1, null]) {
    const refused = await post(body);
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.body.details, /^body: /);
  }
  assert.equal((await world.ask(world.owner, 'POST', CONFIG)).status, 400);
  const wrong = await post(valid(), '&dry_run=perhaps');
  assert.match(wrong.body.details, /^query\.dry_run: /);
});

test('a contact of another client is unknown', async () => {
  const other = await approvalsWorld(service, ['eve']);
  const body = valid();
  body.groups[0]!.users = [{ id: other.person('eve').id }];
  assert.equal((await post(body)).body.details.split(': ')[0], 'body.groups[0].users[0].id');
});

test('a rule that nobody could ever satisfy: 409 naming level and group; contacts without the permission do not count', async () => {
  const before = await versions();
  const two = await world.configure({ boss: ['cat'] }, [[0, [['boss', 'boss']]]]);
  assert.equal(two.status, 409);
  assert.equal(two.body.code, 'ruleset_unsatisfiable');
  assert.match(two.body.details, /^body\.ruleset\.rules\[0\]\.groups\[0\]: level 1 .*"boss"/);
  const overlap = await world.configure({ boss: ['cat'], all: ['cat'] }, [[5, [['boss']], [['all']]]]);
  assert.match(overlap.body.details, /^body\.ruleset\.rules\[0\]\.groups\[1\]: level 2 .*"all"/);
  await world.hire('clerk', ['can_manage_payments']);
  const powerless = await world.configure({ desk: ['clerk'] }, [[0, [['desk']]]]);
  assert.equal(powerless.body.code, 'ruleset_unsatisfiable');
  assert.equal(await versions(), before);
});

test('two configurations at the same instant are two versions', async () => {
  const before = await versions();
  const answers = await Promise.all(many(10, () => post(valid())));
  assert.deepEqual(
    answers.map((answer) => answer.status),
    many(10, () => 200),
  );
  const got = answers.map((answer) => Number(answer.headers.get('x-configuration-version'))).sort((a, b) => a - b);
  assert.deepEqual(
    got,
    many(10, (n) => before + 1 + n),
  );
});

test('a dry run says who would have to approve, at which rate, and changes nothing', async () => {
  await service.operator('PUT', '/exchange-rates', { base_currency: 'EUR', rates: { USD: 1.25 } });
  const before = await versions();
  const sample = [500, '1000.50', { amount: 1000, currency: 'USD' }, { amount: '1250.625', currency: 'USD' }];
  const answer = await post({ ...valid(), sample_amounts: sample }, '&dry_run=true');
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body.dry_run, true);
  const [small, exactly, converted, edge] = answer.body.samples;
  const [ann, bob, cat] = ['ann', 'bob', 'cat'].map((name) => world.person(name).id);
  assert.equal(small.rule, 0);
  assert.equal(small.minimum_authorisations, 1);
  assert.deepEqual(small.first_approvers, [ann, bob]);
  assert.equal(exactly.rule, 1);
  assert.equal(exactly.minimum_authorisations, 2);
  assert.deepEqual(exactly.first_approvers, [ann, bob, cat]);
  assert.deepEqual([converted.rate, converted.converted_amount, converted.rule], [0.8, 800, 0]);
  assert.deepEqual([edge.converted_amount, edge.rule, edge.minimum_threshold], [1000.5, 1, 1000.5]);
  assert.deepEqual(
    answer.body.approvers.map((each: { group: string; users: { id: string }[] }) => [
      each.group,
      each.users.map(({ id }) => id),
    ]),
    [
      ['staff', [ann, bob]],
      ['boss', [cat]],
    ],
  );
  const thresholds = await post(valid(), '&dry_run=true');
  assert.deepEqual(
    thresholds.body.samples.map((each: { amount: number }) => each.amount),
    [0, 1000.5],
  );
  assert.equal(await versions(), before);
});

test('a dry run refuses bad samples by their path', async () => {
  for (const [samples, path, code] of [
    ['none', 'body.sample_amounts', 'invalid_body'],
    [many(MAX_SAMPLES + 1, () => 1), 'body.sample_amounts', 'invalid_body'],
    [[1, -1], 'body.sample_amounts[1]', 'invalid_body'],
    [[{}], 'body.sample_amounts[0].amount', 'invalid_body'],
    [[{ amount: 1, currency: 'usd' }], 'body.sample_amounts[0].currency', 'invalid_body'],
    [[1, { amount: 1, currency: 'XTS' }], 'body.sample_amounts[1].currency', 'exchange_rate_missing'],
  ]) {
    const refused = await post({ ...valid(), sample_amounts: samples }, '&dry_run=true');
    assert.equal(refused.body.code, code, refused.text);
    assert.equal(refused.body.details.split(': ')[0], path);
  }
});

test('the largest configuration is accepted, and a payment under it is approved by as many people as it asks for', async () => {
  const people = MAX_LEVELS * MAX_NAMES_PER_ALTERNATIVE;
  const large = await approvalsWorld(
    service,
    many(people, (n) => `p${n}`),
  );
  // The other users may approve too, but never sign in.
  const ids = many(MAX_USERS_PER_GROUP - people, (n) => `${large.clientId}-${n}`);
  await service.query(
    `insert into contacts (contact_id, name, email, second_factor, trusted_access, created_at)
     select u, u, u || '@example.com', 'none', false, now() from unnest($1::text[]) u`,
    [ids],
  );
  await service.query(
    'insert into contact_clients select $2, u, true, true, true, true, true from unnest($1::text[]) u',
    [ids, large.clientId],
  );
  const users = [...Object.values(large.people).map(({ id }) => ({ id })), ...ids.map((id) => ({ id }))];
  const name = (n: number) => `${'g'.repeat(MAX_GROUP_NAME_LENGTH - 2)}${String(n % MAX_GROUPS).padStart(2, '0')}`;
  const body = {
    groups: many(MAX_GROUPS, (n) => ({ name: name(n), scope: 's'.repeat(MAX_SCOPE_LENGTH), users })),
    ruleset: {
      currency: 'EUR',
      rules: many(MAX_RULES, (rule) => ({
        minimum_threshold: rule * 100,
        groups: many(MAX_LEVELS, (level) => ({
          one_of: many(MAX_ALTERNATIVES, (other) => ({
            all_of: many(MAX_NAMES_PER_ALTERNATIVE, (place) => name(rule + level * 7 + other * 11 + place)),
          })),
        })),
      })),
    },
  };
  const made = await large.ask(large.owner, 'POST', CONFIG, body);
  assert.equal(made.status, 200, made.text.slice(0, 300));
  const samples = many(MAX_SAMPLES, (n) => n * 50);
  const dryRun = await large.ask(large.owner, 'POST', CONFIG, { ...body, sample_amounts: samples }, '&dry_run=true');
  assert.equal(dryRun.body.samples.length, MAX_SAMPLES);
  const id = await large.create(1950);
  for (let given = 0; given < people; given += 1) {
    assert.equal((await large.payment(id)).approvals_workflow.minimum_remaining_authorisations, people - given);
    const done = await large.patch(large.person(`p${given}`), id, 'authorise');
    assert.equal(done.status, 204, done.text);
  }
  assert.equal((await large.payment(id)).approvals_workflow.n_eyes_plus_status, 'Approved');
});
