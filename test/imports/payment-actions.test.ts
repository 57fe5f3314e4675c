import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { published } from '../world/change-feed.ts';
import { createWorld } from '../world/client.ts';
import { lombard, PORTS, printed } from '../world/command.ts';
import { createDatabase, type TestDatabase } from '../world/database.ts';
import { type Answer, call, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import { beginUpload } from '../world/upload.ts';

/** POST /imports/payment-actions: each line as the single action (docs/imports.md, Actions on payments). */

let database: TestDatabase;
let service: TestService;
/** Of a client without approvals, and of one whose payments two people approve. */
let plain: Awaited<ReturnType<typeof createWorld>>;
let guarded: Awaited<ReturnType<typeof createWorld>>;
let approvers: string[];

before(async () => {
  database = await createDatabase();
  service = await startTestService({}, database);
  plain = await createWorld(service);
  guarded = await createWorld(service, 'Guarded Ltd', {
    payment_approvals_enabled: true,
    authorisation_workflow: '6-eyes',
  });
  approvers = [(await guarded.hire('Ann')).contactId, (await guarded.hire('Ben')).contactId];
});
after(() => service.stop());

interface Line {
  payment_id: string;
  action: string;
  contact_id?: string;
  reason?: string;
}

function send(
  lines: object[],
  query = '',
  headers: Record<string, string> = {},
  token = service.operatorToken,
): Promise<Answer> {
  return call(`${service.operatorUrl}/imports/payment-actions${query}`, 'POST', {
    raw: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    token,
    headers: { 'content-type': 'application/x-ndjson', ...headers },
  });
}

async function pay(world: typeof plain, fields: object = {}): Promise<string> {
  return (await world.pay(fields)).body.payment_id;
}

test('one import decides, cancels and returns payments of several clients', async () => {
  const other = await createWorld(service, 'Other Ltd', {
    payment_approvals_enabled: true,
    authorisation_workflow: '4-eyes',
  });
  const [ann = ''] = approvers;
  const { contactId: cleo } = await other.hire('Cleo');
  const people = [
    [guarded, ann],
    [other, cleo],
  ] as const;
  const lines: Line[] = [];
  const expected: Record<string, string> = {};
  for (const [action, statuses] of [
    ['authorise', ['Payment pending of authorization', 'Validating beneficiary information']],
    ['reject', ['Payment rejected', 'Payment rejected']],
    ['cancel', ['Payment cancelled', 'Payment cancelled']],
  ] as const) {
    for (const [index, [world, contact_id]] of people.entries()) {
      const payment_id = await pay(world);
      lines.push({ payment_id, action, ...(action !== 'cancel' && { contact_id, reason: 'As agreed' }) });
      expected[payment_id] = statuses[index] as string;
    }
  }
  const course = ['authorise', 'validate', 'send', 'complete', 'start_return', 'return'];
  const back = { paid: await pay(plain), approved: await pay(other) };
  for (const action of course.slice(1)) lines.push({ payment_id: back.paid, action });
  for (const action of course)
    lines.push({ payment_id: back.approved, action, ...(action === 'authorise' && { contact_id: cleo }) });
  for (const id of Object.values(back)) expected[id] = 'Payment cancelled';
  const { errors } = (await send(lines)).body;
  assert.deepEqual(errors, []);
  for (const [id, status] of Object.entries(expected))
    assert.equal((await service.operator('GET', `/payments/${id}`)).body.status, status, id);
});

type Step = Omit<Line, 'payment_id'>;
const scripts = (): { world: typeof plain; steps: Step[] }[] => {
  const [ann, ben] = approvers as [string, string];
  const course = ['validate', 'send', 'complete'].map((action) => ({ action }));
  return [
    { world: plain, steps: course },
    {
      world: plain,
      steps: [
        { action: 'request_information', reason: 'Which invoice?' },
        { action: 'provide_information' },
        ...course,
      ],
    },
    {
      world: plain,
      steps: [
        ...course,
        { action: 'start_return' },
        { action: 'validate' },
        { action: 'return' },
        { action: 'return' },
      ],
    },
    { world: plain, steps: [{ action: 'cancel', contact_id: plain.contactId, reason: 'Twice' }, { action: 'cancel' }] },
    { world: plain, steps: [{ action: 'invalidate', reason: 'No such account' }, { action: 'send' }] },
    {
      world: guarded,
      steps: [
        { action: 'validate' },
        { action: 'authorise' },
        { action: 'authorise', contact_id: 'nobody' },
        { action: 'authorise', contact_id: guarded.contactId },
        { action: 'authorise', contact_id: ann, reason: 'By telephone' },
        { action: 'authorise', contact_id: ann },
        { action: 'authorise', contact_id: ben },
        { action: 'validate' },
      ],
    },
    {
      world: guarded,
      steps: [
        { action: 'authorise', contact_id: ann },
        { action: 'reject', contact_id: ben, reason: 'Too much' },
      ],
    },
    {
      world: guarded,
      steps: [
        { action: 'reject', contact_id: ann, reason: 'Unknown' },
        { action: 'authorise', contact_id: ben },
      ],
    },
    { world: guarded, steps: [{ action: 'authorise', contact_id: ben }, { action: 'cancel' }] },
  ];
};

/** Everything that an action leaves, without what is a payment's own. */
async function traces(id: string): Promise<object> {
  const query = async (text: string) => (await service.query(text, [id])).rows;
  const [payment] = await query(
    `select p.*, to_jsonb(a) - 'payment_id' as approval,
       array(select (contact_id, may_authorise, may_reject)::text from payment_approvers w where w.payment_id = p.id order by 1) as approvers,
       array(select contact_id from payment_notices w where w.payment_id = p.id order by 1) as notices,
       array(select (kind, contact_id)::text from mails w where w.payment_id = p.id order by 1) as mails
     from payments p left join payment_approvals a on a.payment_id = p.id where p.payment_id = $1`,
  );
  const found = {
    payment,
    audit: await query(
      `select actor, action, before, after from audit where entity = 'payment' and entity_id = $1 and action = 'action' order by id`,
    ),
    events: await query('select type, body from webhook_events where payment_id = $1 order by id'),
    credits: await query('select kind, amount, transaction_reference from transactions where payment_id = $1'),
  };
  const text = JSON.stringify(found, (key, value) =>
    ['id', 'uuid', 'created', 'balance_after'].includes(key) ? undefined : value,
  );
  return JSON.parse(
    text
      .replaceAll(id, 'ID')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)/g, 'AT')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID'),
  );
}

/** The changes of a payment and of its approvals in the feed. */
async function changes(id: string): Promise<object[]> {
  await published(service);
  const found: object[] = [];
  let after = '';
  for (;;) {
    const { body } = await service.operator('GET', `/changes?limit=1000&entities=payment,approval${after}`);
    for (const { entity, entity_id, client_id, version, action, actor, data } of body.changes)
      if (entity_id.split('/')[0] === id) {
        const { status, authorised_by, rejected_by, cancelled_by, decision, reason } = data;
        const shown = { status, authorised_by, rejected_by, cancelled_by, decision, reason };
        found.push({ entity, entity_id: entity_id.replace(id, 'ID'), client_id, version, action, actor, shown });
      }
    if (!body.more) {
      assert.ok(found.length > 1);
      return found;
    }
    after = `&after=${body.cursor}`;
  }
}

const outcome = ({ code, details }: { code: string; details: string }) => [code, details.replace(/^(body|path)\./, '')];

test('each line does what the single action does, also several of one payment in one file', async () => {
  const lines: Line[] = [];
  const twins: { single: string; bulk: string; refusals: unknown[][] }[] = [];
  for (const { world, steps } of scripts()) {
    const twin = { single: await pay(world), bulk: await pay(world), refusals: [] as unknown[][] };
    for (const step of steps) {
      const answer = await service.operator('POST', `/payments/${twin.single}/actions`, step);
      if (answer.status !== 200) twin.refusals.push(outcome(answer.body));
    }
    twins.push(twin);
  }
  // One action of each payment after the other, as a core would write them.
  const open = scripts().map(({ steps }, index) =>
    steps.map((step) => ({ payment_id: twins[index]?.bulk as string, ...step })),
  );
  while (open.some((steps) => steps.length > 0)) for (const steps of open) lines.push(...steps.splice(0, 2));
  const answer = await send([...lines, { payment_id: 'nothing', action: 'send' }, { payment_id: 'x', action: 'fly' }]);
  const wanted = twins.flatMap(({ refusals }) => refusals).length;
  assert.deepEqual(
    [answer.status, answer.body.accepted, answer.body.rejected],
    [200, lines.length - wanted, wanted + 2],
    answer.text,
  );
  const errors = new Map<string, unknown[][]>();
  for (const error of answer.body.errors) {
    const id = lines[error.line - 1]?.payment_id ?? '';
    errors.set(id, [...(errors.get(id) ?? []), outcome(error)]);
  }
  assert.deepEqual(
    errors.get('')?.map(([code]) => code),
    ['payment_not_found', 'invalid_body'],
  );
  for (const { single, bulk, refusals } of twins) {
    assert.deepEqual(errors.get(bulk) ?? [], refusals);
    assert.deepEqual(await traces(bulk), await traces(single));
    assert.deepEqual(await changes(bulk), await changes(single));
  }
});

test('the token needs feed, and approvals for the lines that decide', async () => {
  const token = async (scopes: string[]) =>
    (await service.operator('POST', '/operator-tokens', { name: randomUUID(), scopes })).body.token;
  const id = await pay(guarded);
  const lines = [
    { payment_id: id, action: 'authorise', contact_id: approvers[0] },
    { payment_id: id, action: 'cancel' },
  ];
  const none = await send(lines, '', {}, await token(['read', 'approvals']));
  assert.deepEqual([none.status, none.body.details], [403, 'token: needs the scope feed']);
  const feed = await send(lines, '', {}, await token(['feed']));
  assert.deepEqual([feed.body.accepted, feed.body.rejected], [1, 1]);
  assert.deepEqual(
    [feed.body.errors[0].line, feed.body.errors[0].code, feed.body.errors[0].details],
    [1, 'permission_denied', 'token: needs the scope approvals'],
  );
  const other = await pay(guarded);
  const both = await send([{ ...lines[0], payment_id: other }], '', {}, await token(['feed', 'approvals']));
  assert.equal(both.body.accepted, 1, both.text);
});

test('notify=false: nobody is told', async () => {
  const [returned, rejected] = [await pay(plain), await pay(guarded)];
  const told = async () =>
    Number(
      (
        await service.query(
          `select (select count(*) from webhook_events) + (select count(*) from mails) + (select count(*) from payment_notices) as n`,
        )
      ).rows[0].n,
    );
  await service.query('delete from payment_notices');
  const before = await told();
  const lines = [...['validate', 'send', 'start_return', 'return'].map((action) => ({ payment_id: returned, action }))];
  const answer = await send(
    [
      ...lines,
      { payment_id: rejected, action: 'authorise', contact_id: approvers[0] },
      { payment_id: rejected, action: 'reject', contact_id: approvers[1] },
    ],
    '?notify=false',
  );
  assert.deepEqual([answer.body.accepted, answer.body.rejected], [6, 0], answer.text);
  assert.equal(await told(), before);
});

test('on_error=stop: nothing takes place behind the first refused line', async () => {
  const [first, second, third] = [await pay(plain), await pay(plain), await pay(plain)];
  const line = (payment_id: string, action: string) => ({ payment_id, action });
  const file = [
    line(first, 'validate'),
    line(second, 'validate'),
    line(first, 'send'),
    line(second, 'complete'),
    line(third, 'validate'),
  ];
  const answer = await send(file, '?on_error=stop');
  assert.deepEqual([answer.body.accepted, answer.body.rejected, answer.body.errors[0].line], [3, 1, 4]);
  const { rows } = await service.query(
    'select payment_id, status from payments where payment_id = any($1) order by id',
    [[first, second, third]],
  );
  assert.deepEqual(
    rows.map(({ status }) => status),
    ['Executing Payment', 'Waiting for payment date', 'Validating beneficiary information'],
  );
  const unknown = await send(
    [line(third, 'validate'), line('nothing', 'send'), line(first, 'complete')],
    '?on_error=stop',
  );
  assert.deepEqual([unknown.body.accepted, unknown.body.errors[0].line], [1, 2]);
  assert.equal((await service.operator('GET', `/payments/${first}`)).body.status, 'Executing Payment');
  const skipped = await send([], '?on_conflict=skip');
  assert.deepEqual([skipped.status, skipped.body.code], [400, 'invalid_parameter']);
});

test('killed at some line and sent again: each action takes place exactly once', async () => {
  const payments = Array.from({ length: 8_000 }, (_, index) => ({ ...plain.base, payment_id: `K-${index}` }));
  const loaded = await call(`${service.operatorUrl}/imports/payments`, 'POST', {
    raw: payments.map((payment) => `${JSON.stringify(payment)}\n`).join(''),
    token: service.operatorToken,
    headers: { 'content-type': 'application/x-ndjson' },
  });
  assert.equal(loaded.body.accepted, 8_000, loaded.text);
  // Taken twice, each of them would be refused the second time.
  const lines = ['validate', 'send'].flatMap((action) => payments.map(({ payment_id }) => ({ payment_id, action })));
  const headers = { 'idempotency-key': randomUUID() };
  const process = lombard(['serve'], {
    ...PORTS,
    DATABASE_URL: database.url,
    LOMBARD_DATA_DIR: service.config.dataDir,
    LOMBARD_OPERATOR_TOKEN: service.operatorToken,
    LOMBARD_ROLES: 'operator',
  });
  try {
    const [, operatorUrl = ''] = await printed(process, /"operator":"([^"]+)".*"msg":"ready"/);
    const upload = beginUpload(
      { operatorUrl, operatorToken: service.operatorToken },
      '/imports/payment-actions',
      headers,
    );
    upload.request.on('error', () => {});
    upload.request.write(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
    await until(
      async () =>
        Number((await service.query(`select count(*) from audit where entity_id like 'K-%'`)).rows[0].count) > 0,
    );
  } finally {
    process.child.kill('SIGKILL');
  }
  const again = await send(lines, '', headers);
  assert.deepEqual(
    [again.status, again.body.accepted, again.body.rejected],
    [200, 16_000, 0],
    again.text.slice(0, 500),
  );
  const { rows } = await service.query(
    `select count(*) as actions, count(distinct (entity_id, after ->> 'action')) as distinct from audit where action = 'action' and entity_id like 'K-%'`,
  );
  assert.deepEqual([Number(rows[0].actions), Number(rows[0].distinct)], [16_000, 16_000]);
  const events = await service.query(
    `select count(*) as n from webhook_events where payment_id like 'K-%' and body like '%["SENT"]}'`,
  );
  assert.equal(Number(events.rows[0].n), 8_000);
});
