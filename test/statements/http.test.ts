import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createWorld } from '../world/client.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { createStatementWorld, mailsOf, type StatementWorld } from '../world/statements.ts';
import { until } from '../world/until.ts';

let service: TestService;
let world: StatementWorld;
before(async () => {
  service = await startTestService({
    LOMBARD_STATEMENT_MAX_DAYS: '100',
    LOMBARD_MAIL_FROM: 'Bank <bank@bank.example>',
  });
  world = await createStatementWorld(service, ['EUR', 'GBP', 'USD'], 'Müller & <Söhne>');
});
after(() => service.stop());

const period = { date_from: '2026-07-01', date_to: '2026-07-31' };

test('every wrong body is a 400 that names the field', async () => {
  for (const [body, code, field] of [
    [{ date_to: '2026-07-31' }, 'invalid_body', 'body.date_from'],
    [{ date_from: '2026-07-31' }, 'invalid_body', 'body.date_to'],
    [{ ...period, date_from: '2026-7-1' }, 'invalid_body', 'body.date_from'],
    [{ ...period, date_from: '2026-02-30' }, 'invalid_body', 'body.date_from'],
    [{ ...period, date_to: '2026-13-01' }, 'invalid_body', 'body.date_to'],
    [{ ...period, date_to: '2026-07-31T00:00:00Z' }, 'invalid_body', 'body.date_to'],
    [{ ...period, date_from: 20260701 }, 'invalid_body', 'body.date_from'],
    [{ ...period, date_from: null }, 'invalid_body', 'body.date_from'],
    [{ date_from: '2026-07-31', date_to: '2026-07-30' }, 'invalid_body', 'body.date_to'],
    [{ date_from: '2026-01-01', date_to: '2026-04-11' }, 'statement_period_too_long', 'body.date_to'],
    [{ ...period, format: 'PDF' }, 'invalid_body', 'body.format'],
    [{ ...period, format: 'xlsx' }, 'invalid_body', 'body.format'],
    [{ ...period, currencies: '' }, 'invalid_body', 'body.currencies'],
    [{ ...period, currencies: 'eur' }, 'invalid_body', 'body.currencies'],
    [{ ...period, currencies: 'EUR, GBP' }, 'invalid_body', 'body.currencies'],
    [{ ...period, currencies: ',EUR' }, 'invalid_body', 'body.currencies'],
    [{ ...period, currencies: ['EUR'] }, 'invalid_body', 'body.currencies'],
    [{ ...period, currencies: 'EUR,'.repeat(600) }, 'invalid_body', 'body.currencies'],
    [
      { ...period, currencies: 'EUR,CHF' },
      'invalid_body',
      'body.currencies: the client has no currency account in CHF',
    ],
    [{ ...period, delivery: 'fax' }, 'invalid_body', 'body.delivery'],
    [{ ...period, delivery_method: 'fax' }, 'invalid_body', 'body.delivery_method'],
    [{ ...period, delivery: 'email', delivery_method: 'push' }, 'invalid_body', 'body.delivery_method'],
    ['text', 'invalid_body', 'body'],
    [[], 'invalid_body', 'body'],
    [undefined, 'invalid_body', 'body'],
  ] as const) {
    const answer = await world.ask(body);
    assert.deepEqual([answer.status, answer.body?.code], [400, code], `${JSON.stringify(body)}: ${answer.text}`);
    assert.ok(answer.body.details.startsWith(field), answer.body.details);
  }
  assert.deepEqual(await world.list(), [], 'nothing was begun');
});

test('token, client and period in their order; push needs an address', async () => {
  assert.equal((await service.client('unknown', 'POST', '/statements/accounts?client_id=x', { body: {} })).status, 401);
  assert.equal((await world.ask({}, '')).body.code, 'missing_parameter');
  const other = await createWorld(service, 'Not mine');
  assert.equal((await world.ask(period, `client_id=${other.clientId}`)).body.code, 'client_not_found');
  for (const delivery of ['push', 'both']) {
    for (const field of ['delivery', 'delivery_method']) {
      const answer = await world.ask({ ...period, [field]: delivery });
      assert.deepEqual([answer.status, answer.body.code], [403, 'statement_push_not_configured']);
    }
  }
  const without = await createStatementWorld(service, [], 'No accounts');
  const answer = await without.ask(period);
  assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_body']);
  assert.equal(answer.body.details, 'body.currencies: the client has no currency account');
  const wrong = await service.client(world.token, 'GET', `/statements/accounts?client_id=${world.clientId}`);
  assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'POST']);
});

test('202 with a JSON string; one mail to the asking contact, a section or a file for each currency', async () => {
  const answer = await world.ask({ date_from: '2026-07-01', date_to: '2026-07-01' });
  assert.equal(answer.status, 202);
  assert.match(answer.body, /accepted.*email with the statement will follow/i);
  const sent = await world.until('sent');
  assert.deepEqual([sent.format, sent.delivery, sent.currencies], ['pdf', 'email', ['EUR', 'GBP', 'USD']]);
  assert.equal(sent.request_id, answer.headers.get('x-request-id'));
  assert.deepEqual(
    sent.deliveries.map(({ channel, currency, status, attempts, last_error, next_attempt_at }) => [
      channel,
      currency,
      status,
      attempts,
      last_error,
      next_attempt_at,
    ]),
    [['email', null, 'sent', 1, null, null]],
  );
  const mails = await mailsOf(service, sent.statement_id);
  assert.equal(mails.length, 1);
  const [mail] = mails;
  assert.equal(mail?.to, world.email);
  assert.equal(mail?.message_id, `<statement-${sent.statement_id}@bank.example>`);
  assert.ok(mail?.text.includes('Müller & <Söhne>'));
  assert.ok(mail?.html.includes('Müller &amp; &lt;Söhne&gt;') && mail.html.includes('Lombard Sandbox'));
  assert.ok(!mail?.html.includes('<Söhne>'));
  assert.deepEqual(
    mail?.attachments.map(({ filename, content_type }) => [filename, content_type]),
    [[`statement_${world.clientId}_2026-07-01_2026-07-01.pdf`, 'application/pdf']],
  );
  assert.equal(
    Buffer.from(mail?.attachments[0]?.content ?? '', 'base64')
      .subarray(0, 5)
      .toString(),
    '%PDF-',
  );

  for (const [format, ending] of [
    ['csv', 'csv'],
    ['camt.053', 'camt.053.xml'],
  ]) {
    await world.ask({ ...period, format, currencies: 'USD,EUR,USD,' });
    const { statement_id: id } = await world.until('sent');
    const [one] = await mailsOf(service, id);
    assert.deepEqual(
      one?.attachments.map(({ filename }) => filename),
      ['EUR', 'USD'].map((currency) => `statement_${world.clientId}_2026-07-01_2026-07-31_${currency}.${ending}`),
    );
  }
  const joined = await world.ask({ ...period, currencies: 'EURGBP', delivery_method: 'email' });
  assert.equal(joined.status, 202, 'the pattern of the specification lets the comma be missing');
  assert.deepEqual((await world.until('sent')).currencies, ['EUR', 'GBP']);
});

test('a request is audited, with who and what', async () => {
  const [newest] = await world.list();
  const { body } = await service.operator('GET', `/audit?entity=statement&entity_id=${newest?.statement_id}`);
  assert.equal(body.length, 1);
  assert.deepEqual(
    [body[0].actor, body[0].action, body[0].client_id, body[0].after.date_from, body[0].after.currencies],
    [`contact:${world.contactId}`, 'create', world.clientId, '2026-07-01', ['EUR', 'GBP']],
  );
});

test('the edges of the calendar: the longest period, the far past and the far future', async () => {
  for (const [date_from, date_to] of [
    ['2026-01-01', '2026-04-10'],
    ['0001-01-01', '0001-01-02'],
    ['9999-12-01', '9999-12-31'],
  ]) {
    assert.equal((await world.ask({ date_from, date_to, format: 'csv', currencies: 'EUR' })).status, 202);
    const { statement_id: id } = await world.until('sent', 'failed');
    const [mail] = await mailsOf(service, id);
    const csv = Buffer.from(mail?.attachments[0]?.content ?? '', 'base64').toString();
    assert.ok(csv.includes(`opening_balance,${date_from},,,0`), csv);
  }
});

test('GET /statements: pages, filters, roles', async () => {
  const all = await service.operator('GET', '/statements?page_size=1000');
  const total = all.body.length;
  assert.ok(total >= 5);
  assert.equal(all.headers.get('x-total-count'), String(total));
  const page = await service.operator('GET', '/statements?page=2&page_size=2');
  assert.deepEqual(page.body, all.body.slice(2, 4));
  assert.equal((await service.operator('GET', '/statements?status=failed')).body.length, 0);
  assert.equal((await service.operator('GET', '/statements?status=sent')).body.length, total);
  assert.equal((await service.operator('GET', '/statements?client_id=nobody')).body.length, 0);
  const moment = all.body[1].created_at;
  const later = await service.operator('GET', `/statements?from=${moment}`);
  assert.equal(later.body.length, 2);
  assert.equal((await service.operator('GET', `/statements?to=${moment}`)).body.length, total - 2);
  assert.equal((await service.operator('GET', '/statements?status=lost')).body.code, 'invalid_parameter');
  assert.equal((await service.operator('GET', '/statements?from=yesterday')).body.code, 'invalid_parameter');
  assert.ok(!all.text.includes('@example.com'), 'no mail address');
  const support = await service.operator('POST', '/operator-tokens', { name: 'support', role: 'support' });
  assert.equal((await service.operator('GET', '/statements', undefined, { token: support.body.token })).status, 200);
});

interface Progress {
  id: string;
  state: string;
  requested_at: string;
  ended_at: string | null;
  sent_to: string;
  reason: string | null;
}

/** Asks for a statement, and gives the address in Location. */
async function askAndFollow(of: StatementWorld, body: object): Promise<() => Promise<Progress>> {
  const asked = await of.ask(body);
  assert.equal(asked.status, 202, asked.text);
  const location = asked.headers.get('location') ?? '';
  const [before, id] = location.split('/statements/requests/');
  assert.equal(before, service.api);
  assert.match(id ?? '', new RegExp(`^[0-9a-f-]{36}\\?client_id=${of.clientId}$`));
  return async () => {
    const answer = await service.client(of.token, 'GET', location.slice(service.api.length));
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    return answer.body;
  };
}

async function ended(progress: () => Promise<Progress>): Promise<Progress> {
  return until(
    async () => {
      const now = await progress();
      if (now.ended_at !== null) return now;
      assert.ok(['queued', 'running'].includes(now.state), JSON.stringify(now));
      return undefined;
    },
    { seen: progress },
  );
}

test('a request can be followed by the client, and by nobody else', async () => {
  const progress = await askAndFollow(world, { ...period, currencies: 'GBP,EUR', format: 'csv' });
  const { id, requested_at, ended_at, ...rest } = await ended(progress);
  assert.deepEqual(rest, {
    ...{ state: 'sent', format: 'csv', ...period, currencies: ['EUR', 'GBP'], delivery: 'email' },
    ...{ sent_to: world.email, reason: null },
  });
  for (const moment of [requested_at, ended_at ?? '']) assert.match(moment, /^\d{4}-\d\d-\d\dT.*[+]0[01]:00$/);
  const other = await createStatementWorld(service, [], 'Somebody else');
  for (const [token, path, status, code] of [
    [other.token, `/statements/requests/${id}?client_id=${other.clientId}`, 404, 'statement_not_found'],
    [other.token, `/statements/requests/${id}?client_id=${world.clientId}`, 404, 'client_not_found'],
    [world.token, `/statements/requests/none?client_id=${world.clientId}`, 404, 'statement_not_found'],
    [world.token, `/statements/requests/${id}`, 400, 'missing_parameter'],
    ['none', `/statements/requests/${id}?client_id=${world.clientId}`, 401, 'authentication_failed'],
  ] as const) {
    const answer = await service.client(token, 'GET', path);
    assert.deepEqual([answer.status, answer.body.code], [status, code], path);
  }
});

test('a request that fails says why, without what only the institution may know', async () => {
  const url = 'https://127.0.0.1:1/statements?key=secret';
  const pushed = await createStatementWorld(service, ['EUR'], 'Push', { statement_push_url: url });
  const progress = await askAndFollow(pushed, { ...period, delivery: 'push' });
  const seen = await until(async () => {
    const now = await progress();
    return now.reason !== null && now;
  });
  assert.deepEqual([seen.state, seen.ended_at], ['running', null]);
  assert.equal(seen.sent_to, 'https://127.0.0.1:1/statements');
  assert.match(seen.reason ?? '', /^the push failed: connect/);
  await service.operator('PATCH', `/clients/${pushed.clientId}`, { statement_push_url: null });
  const { statement_id: id } = await pushed.until('retrying');
  const now = await service.operator('POST', `/statements/${id}/send`);
  assert.deepEqual([now.status, now.body], [202, { count: 1 }], 'it is tried at once');
  const failed = await ended(progress);
  assert.deepEqual([failed.state, failed.reason], ['failed', 'the client no longer has a statement_push_url']);
});

test('the institution sends a statement again: the same one, in another mail, to the present address', async () => {
  const one = await createStatementWorld(service, ['EUR'], 'Again');
  await one.book('EUR', 'CREDIT_INCOMING_TRANSACTION', '10.00', { booking_datetime: '2026-07-02T12:00:00Z' });
  const progress = await askAndFollow(one, { ...period, format: 'csv' });
  const { id } = await ended(progress);
  const email = `new-${one.email}`;
  await service.operator('PATCH', `/contacts/${one.contactId}`, { email });
  await one.book('EUR', 'CREDIT_INCOMING_TRANSACTION', '20.00', { booking_datetime: '2026-07-03T12:00:00Z' });
  const support = await service.operator('POST', '/operator-tokens', { name: 'sender', role: 'support' });
  const again = await service.operator('POST', `/statements/${id}/send`, undefined, { token: support.body.token });
  assert.deepEqual([again.status, again.body], [202, { count: 1 }], again.text);
  assert.equal((await ended(progress)).sent_to, email);
  const mails = await mailsOf(service, id);
  assert.deepEqual(
    mails.map((mail) => [mail.to, mail.message_id]).toSorted(),
    [
      [email, `<statement-${id}-2@bank.example>`],
      [one.email, `<statement-${id}@bank.example>`],
    ].toSorted(),
  );
  assert.deepEqual(mails[0]?.attachments, mails[1]?.attachments);
  const { body: rows } = await service.operator('GET', `/audit?entity=statement&entity_id=${id}`);
  assert.ok(
    rows.some((row: { actor: string; after: object }) => row.actor === 'operator:sender' && 'action' in row.after),
  );

  const refused = async (wanted: string, headers = {}) => {
    const answer = await service.operator('POST', `/statements/${wanted}/send`, undefined, headers);
    return [answer.status, answer.body.code];
  };
  assert.deepEqual(await refused('none'), [404, 'statement_not_found']);
  const core = await service.operator('POST', '/operator-tokens', { name: 'core', role: 'core' });
  assert.deepEqual(await refused(id, { token: core.body.token }), [403, 'permission_denied']);
  await service.operator('PATCH', `/contacts/${one.contactId}`, { status: 'disabled' });
  assert.deepEqual(await refused(id), [409, 'transition_not_allowed']);
});
