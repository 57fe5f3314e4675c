import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { cellContexts } from '../../src/database/cells/contexts.ts';
import { clearFiles } from '../../src/statements/kept-file.ts';
import { createWorld } from '../world/client.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** Statements that a client fetches as files. */
let service: TestService;
let world: Awaited<ReturnType<typeof createWorld>>;
let token: string;
let account: number;
const DAY = 86_400;

before(async () => {
  service = await startTestService();
  world = await createWorld(service);
  token = await world.signIn();
  account = await open(world.clientId, 'EUR');
  await book('1000.00', '2026-03-01T09:00:00Z');
  await book('20.00', '2026-03-05T23:30:00Z');
});
after(() => service?.stop());

async function open(client_id: string, currency: string): Promise<number> {
  return (await service.operator('POST', '/currency-accounts', { client_id, currency })).body.account_id;
}
async function book(amount: string, booking_datetime: string) {
  const of = { client_id: world.clientId, currency_account_id: account, kind: 'CREDIT_TRANSACTION' };
  const made = await service.operator('POST', '/transactions', {
    ...of,
    booking_datetime,
    amount: { amount, currency: 'EUR' },
  });
  assert.equal(made.status, 201, made.text);
}
const MARCH = { from_value_datetime: '2026-03-01T12:00:00', to_value_datetime: '2026-03-05T00:30:00+00:00' };
const request = (body: unknown, query = '', named: number | string = account, headers: Record<string, string> = {}) =>
  service.client(token, 'POST', `/accounts/${named}/statements/file?client_id=${world.clientId}${query}`, {
    body,
    headers,
  });

async function fetched(url: string): Promise<Response> {
  const { pathname, search } = new URL(url);
  return until(async () => {
    const answer = await fetch(`${service.api}${pathname}${search}`, { headers: { authorization: `Bearer ${token}` } });
    if (answer.status !== 202) return answer;
    assert.match(((await answer.json()) as { status: string }).status, /^(queued|running)$/);
    return false;
  });
}

test('the file is made in the background, in each format, of whole London days', async () => {
  for (const [format, type, name, begin] of [
    ['csv', /^text\/csv/, 'csv', /^/],
    ['pdf', /^application\/pdf/, 'pdf', /^%PDF-/],
    ['camt053', /^application\/xml/, 'camt.053.xml', /^<\?xml/],
  ] as const) {
    const asked = await request(MARCH, `&format=${format}`);
    assert.equal(asked.status, 202, asked.text);
    assert.deepEqual(Object.keys(asked.body), ['url']);
    assert.equal(asked.headers.get('location'), asked.body.url);
    const answer = await fetched(asked.body.url);
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    assert.match(answer.headers.get('content-type') ?? '', type);
    const filename = `statement_${world.clientId}_2026-03-01_2026-03-05.${name}`;
    assert.equal(answer.headers.get('content-disposition'), `attachment; filename="${filename}"`);
    assert.match(text, begin);
    // Both were booked on these London days, whatever their times.
    if (format === 'csv') for (const amount of ['1000.00', '20.00']) assert.ok(text.includes(amount), text);
  }
  const pdf = await request({ from_value_datetime: '2026-03-01T00:00:00Z' });
  assert.match((await fetched(pdf.body.url)).headers.get('content-type') ?? '', /pdf/);
});

test('the same key gives the same file, and the UUID of an account stands for its currency account', async () => {
  const { body: named } = await service.operator('POST', '/accounts', { client_id: world.clientId, currency: 'EUR' });
  const key = { 'idempotency-key': randomUUID() };
  const first = await request(MARCH, '&format=csv', named.account_id, key);
  const again = await request(MARCH, '&format=csv', named.account_id, key);
  assert.deepEqual([again.status, again.body], [202, first.body]);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  assert.equal((await fetched(first.body.url)).status, 200);
});

test('what makes no sense is refused', async () => {
  for (const [body, code, details, query = ''] of [
    [{}, 'invalid_body', 'body.from_value_datetime: is required'],
    [{ from_value_datetime: '2026-03-01' }, 'invalid_body', 'body.from_value_datetime: must be an ISO 8601 date-time'],
    [
      { ...MARCH, to_value_datetime: '2026-02-01T00:00:00Z' },
      'invalid_body',
      'body.to_value_datetime: must not be before',
    ],
    [{ ...MARCH, from_value_datetime: '2020-01-01T00:00:00Z' }, 'statement_period_too_long', 'body.to_value_datetime'],
    [{ ...MARCH, format: 'csv' }, 'invalid_body', 'body.format: is not a field'],
    [MARCH, 'invalid_parameter', 'query.format', '&format=mt940'],
  ] as const) {
    const answer = await request(body, query);
    assert.deepEqual([answer.status, answer.body.code], [400, code], answer.text);
    assert.ok(answer.body.details.startsWith(details), answer.body.details);
    if (code === 'invalid_body') assert.equal(answer.body.errors[0].details, answer.body.details);
  }
  const both = await request({ from_value_datetime: 'never', to_value_datetime: 'always' });
  assert.deepEqual(
    both.body.errors.map(({ details }: { details: string }) => details.split(':')[0]),
    ['body.from_value_datetime', 'body.to_value_datetime'],
  );
  assert.equal((await request(MARCH, '', 999_999)).body.code, 'currency_account_not_found');
  // The period is looked at before the account.
  const backwards = { ...MARCH, to_value_datetime: '2026-02-01T00:00:00Z' };
  assert.equal((await request(backwards, '', 999_999)).body.code, 'invalid_body');
});

test('nobody else reads it, nor does anybody by another account, and it is gone after 7 days', async () => {
  const { url } = (await request(MARCH, '&format=csv')).body;
  assert.equal((await fetched(url)).status, 200);
  const { pathname } = new URL(url);
  const id = pathname.split('/')[4] as string;
  const stranger = await createWorld(service);
  const theirs = await open(stranger.clientId, 'EUR');
  const other = await open(world.clientId, 'GBP');
  const read = async (client: string, named: number, by = token) =>
    (await service.client(by, 'GET', `/accounts/${named}/statements/${id}/file?client_id=${client}`)).body.code;
  assert.equal(await read(stranger.clientId, theirs, await stranger.signIn()), 'statement_not_found');
  assert.equal(await read(world.clientId, other), 'statement_not_found');
  const files = async () =>
    (await service.query('select count(*)::int as n from statement_files where statement_id = $1', [id])).rows[0].n;
  const { context } = service.service;
  const clear = async () => {
    for (const { backgroundPool, clock } of await cellContexts(context)) await clearFiles(backgroundPool, clock.now());
  };
  await service.operator('PUT', '/clock', { advance_seconds: 7 * DAY - 60 });
  await clear();
  token = await world.signIn();
  assert.equal((await fetched(url)).status, 200);
  assert.equal(await files(), 1);
  await service.operator('PUT', '/clock', { advance_seconds: 7 * DAY + 60 });
  token = await world.signIn();
  const gone = await fetched(url);
  assert.deepEqual([gone.status, ((await gone.json()) as { code: string }).code], [404, 'statement_not_found']);
  await clear();
  assert.equal(await files(), 0);
  await service.operator('DELETE', '/clock');
  token = await world.signIn();
});

test('the institution sees the request, and may have the file made again', async () => {
  const { url } = (await request(MARCH, '&format=csv')).body;
  assert.equal((await fetched(url)).status, 200);
  const id = new URL(url).pathname.split('/')[4] as string;
  const { body: statement } = await service.operator('GET', `/statements/${id}`);
  assert.deepEqual([statement.delivery, statement.deliveries[0].channel, statement.state], ['file', 'file', 'sent']);
  const progress = await service.client(token, 'GET', `/statements/requests/${id}?client_id=${world.clientId}`);
  assert.deepEqual([progress.status, progress.body.delivery, progress.body.sent_to], [200, 'file', '']);
  assert.equal((await service.operator('POST', `/statements/${id}/send`, {})).status, 202);
  assert.equal((await fetched(url)).status, 200);
});
