import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type pg from 'pg';
import { transaction } from '../../src/database/database.ts';
import { createPool } from '../../src/database/pools.ts';
import { readConfig } from '../../src/settings/config.ts';
import { Problem } from '../../src/values/errors.ts';
import { createDays, dropOldDays } from '../../src/webhooks/delivery/retention.ts';
import { JITTER, MAX_RETRY_AFTER_MS, nextWait, parseRetryAfter } from '../../src/webhooks/delivery/schedule.ts';
import { notify } from '../../src/webhooks/notification.ts';
import { signature, standardSignature } from '../../src/webhooks/sending/signature.ts';
import { checkExtraHeaders, checkSecret, checkTypes, checkUrl } from '../../src/webhooks/subscription-rules.ts';
import { OWN_LOCKS } from '../world/cells.ts';
import { createDatabase, log, type TestDatabase } from '../world/database.ts';
import { until } from '../world/until.ts';

/** The rules of subscriptions, the schedule, signatures and retention, without receivers. */

const refused = (work: () => unknown, details: RegExp) =>
  assert.throws(
    work,
    (error) => error instanceof Problem && error.code === 'invalid_body' && details.test(error.details),
  );

test('URLs', () => {
  const long = `https://example.com/${'a'.repeat(2_048 - 20)}`;
  for (const url of ['https://example.com', 'https://example.com:8443/a?b=c', 'https://[2606:4700::1]/', long]) {
    assert.equal(checkUrl(url, { sandbox: false }), url);
  }
  assert.equal(checkUrl('http://127.0.0.1:1/x', { sandbox: true }), 'http://127.0.0.1:1/x');
  const bad: [string, RegExp][] = [
    ['http://example.com', /https/],
    ['ftp://example.com', /https/],
    ['example.com', /absolute/],
    ['', /absolute/],
    ['https://', /absolute/],
    ['https:example.com', /after :/],
    ['https:///example.com', /after :/],
    ['https://example.com:0/', /port/],
    ['https://example.com\\@evil.example/', /backslash/],
    ['https://example.com/\ud800', /absolute/],
    ['https://@example.com/', /user name/],
    ['https://user@example.com', /user name/],
    ['https://user:pw@example.com', /user name/],
    ['https://example.com/#part', /fragment/],
    ['https://example.com/#', /fragment/],
    [' https://example.com', /white space/],
    ['https://example.com/a\tb', /white space/],
    ['https://exa\nmple.com', /white space/],
    [`${long}a`, /2048/],
    ['javascript:alert(1)', /https/],
  ];
  for (const [url, details] of bad) refused(() => checkUrl(url, { sandbox: false }), details);
});

test('custom headers', () => {
  const header = (name: string, value = 'v') => ({ name, value });
  const good = [
    header('x-a'),
    header('X-Token', 'abc def'),
    header(`x-${'n'.repeat(126)}`, 'v'.repeat(256)),
    header('x-e', ''),
    header('x-l', 'caf\u00e9'),
  ];
  assert.deepEqual(checkExtraHeaders(good, 'Service'), good);
  refused(() => checkExtraHeaders([...good, header('x-six')], 'Service'), /at most 5/);
  const bad: [string, string, RegExp][] = [
    ['authorization', 'v', /^extraHeaders\[0\]\.name.*x-/],
    ['host', 'v', /x-/],
    ['', 'v', /x-/],
    [`x-${'n'.repeat(127)}`, 'v', /128/],
    ['x-a', 'v'.repeat(257), /^extraHeaders\[0\]\.value.*256/],
    ['x-a b', 'v', /characters/],
    ['x-a:', 'v', /characters/],
    ['x-a\r\ny', 'v', /characters/],
    ['x-ä', 'v', /characters/],
    ['x-a', 'a\r\nInjected: 1', /control/],
    ['x-a', 'a\u0000', /control/],
    ['x-a', '€', /8859/],
    ['x-service-signature', 'v', /itself/],
    ['X-Service-Client-Id', 'v', /itself/],
  ];
  for (const [name, value, details] of bad) refused(() => checkExtraHeaders([header(name, value)], 'Service'), details);
  assert.ok(checkExtraHeaders([header('x-service-signature')], 'Acme'));
  refused(() => checkExtraHeaders([header('x-acme-signature')], 'Acme'), /itself/);
});

test('types and secrets', () => {
  assert.deepEqual(checkTypes(['DEBIT_TRANSACTION', 'CREDIT_TRANSACTION', 'DEBIT_TRANSACTION']), [
    'DEBIT_TRANSACTION',
    'CREDIT_TRANSACTION',
  ]);
  assert.deepEqual(checkTypes([]), []);
  refused(() => checkTypes(['DEBIT_TRANSACTION', 'PING']), /^types\[1\]/);
  assert.equal(checkSecret(''), null);
  assert.equal(checkSecret(null), null);
  assert.equal(checkSecret('s'.repeat(1_024))?.length, 1_024);
  refused(() => checkSecret('s'.repeat(1_025)), /1024/);
});

test('the schedule: each wait within its jitter, then no more', () => {
  const { webhookRetries } = readConfig({});
  assert.deepEqual(
    webhookRetries.map((wait) => wait / 1_000),
    [5, 60, 300, 1_800, 7_200, 18_000, 36_000, 36_000, 86_400, 86_400],
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (made, random) => {
        const wait = webhookRetries[made - 1] ?? 0;
        const next = nextWait(webhookRetries, { made, retryAfter: undefined, random }) ?? 0;
        assert.ok(next >= wait * (1 - JITTER) - 1 && next <= wait * (1 + JITTER) + 1);
      },
    ),
    { verbose: true },
  );
  assert.equal(nextWait(webhookRetries, { made: 11, retryAfter: undefined, random: 0.5 }), undefined);
  assert.equal(nextWait(webhookRetries, { made: 11, retryAfter: 5_000, random: 0.5 }), undefined);
  assert.equal(nextWait(webhookRetries, { made: 1, retryAfter: 7_000, random: 0 }), 7_000);
  assert.equal(nextWait(webhookRetries, { made: 1, retryAfter: 0, random: 0 }), 1_000);
  const longest = nextWait(webhookRetries, { made: 1, retryAfter: 10 * MAX_RETRY_AFTER_MS, random: 0 });
  assert.equal(longest, MAX_RETRY_AFTER_MS);
});

test('Retry-After in seconds and as a date', () => {
  const now = new Date('2026-07-01T10:00:00Z');
  const cases: [string | string[] | undefined, number | undefined][] = [
    ['120', 120_000],
    [' 3 ', 3_000],
    [['7', '9'], 7_000],
    ['Wed, 01 Jul 2026 10:01:00 GMT', 60_000],
    ['Wed, 01 Jul 2026 09:00:00 GMT', 0],
    ['soon', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['', undefined],
    [undefined, undefined],
  ];
  for (const [value, expected] of cases) assert.equal(parseRetryAfter(value, now), expected, String(value));
});

test('property: the own HMAC is the library’s, for every length of key and text', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 400, unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (secret, body) => {
      const expected = createHmac('sha3-256', secret).update(`https://example.com/${body}`).digest('hex');
      assert.equal(signature(secret, 'https://example.com/', body), `sha3-256=${expected}`);
      assert.equal(signature(secret, 'https://example.com/', Buffer.from(body)), `sha3-256=${expected}`);
      const standard = createHmac('sha256', secret).update(`id.7.${body}`).digest('base64');
      assert.equal(standardSignature([secret], { id: 'id', timestamp: 7, body }), `v1,${standard}`);
    }),
    { verbose: true },
  );
  for (const length of [0, 63, 64, 65, 135, 136, 137, 272]) {
    const expected = createHmac('sha3-256', 'k'.repeat(length)).update('ub').digest('hex');
    assert.equal(signature('k'.repeat(length), 'u', 'b'), `sha3-256=${expected}`);
    const standard = createHmac('sha256', 'k'.repeat(length)).update('i.1.b').digest('base64');
    assert.equal(standardSignature(['k'.repeat(length)], { id: 'i', timestamp: 1, body: 'b' }), `v1,${standard}`);
  }
});

test('signatures are what another implementation makes of them', () => {
  assert.equal(
    // printf '%s' 'https://example.com/hook{"a":1}' | openssl dgst -sha3-256 -hmac key
    signature('key', 'https://example.com/hook', '{"a":1}'),
    'sha3-256=baa588b3a7e4a5c4e62cd761304a32b81fb8479973221b1cff117c25d091d788',
  );
  // The example of the Standard Webhooks specification's reference libraries.
  assert.equal(
    standardSignature(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1_614_265_330,
      body: '{"test": 2432232314}',
    }),
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
});

let database: TestDatabase;
let pool: pg.Pool;
before(async () => {
  database = await createDatabase();
  pool = createPool(database.url, log, { max: 2 });
});
after(async () => {
  await pool.end();
  await database.drop();
});

test('while the partition of a day is made, its events are found and new ones are written: both wait for it', async () => {
  const now = new Date('2031-09-04T12:00:00Z');
  const write = () =>
    transaction(pool, (tx) => notify(tx, { clientId: 'A', type: 'DEBIT_TRANSACTION', body: '{}', now }));
  const read = () =>
    pool.query<{ name: string }>({
      name: 'read',
      text: 'select tableoid::regclass::text as name from webhook_events where created_at = $1',
      values: [now],
    });
  const maker = createPool(database.url, log, { max: 1 });
  try {
    // Both connections have planned their statements, and both events stand in the default partition.
    await Promise.all([write(), write()]);
    await Promise.all([read(), read()]);
    const others = await transaction(maker, async (tx) => {
      await tx.query('select create_webhook_day($1, $2)', ['webhook_events', now]);
      const both = Promise.allSettled([write(), read()]);
      const waiting = async () => (await tx.query(`select from pg_locks where not granted and ${OWN_LOCKS}`)).rowCount;
      await until(async () => (await waiting()) === 2);
      return { both };
    });
    const [written, found] = await others.both;
    assert.equal(written.status, 'fulfilled', String((written as PromiseRejectedResult).reason));
    const name = 'webhook_events_20310904';
    assert.ok(found.status === 'fulfilled');
    assert.ok(found.value.rows.length >= 2, `${found.value.rows.length} of two events were found`);
    assert.deepEqual((await read()).rows, [{ name }, { name }, { name }]);
  } finally {
    await pool.query('delete from webhook_events');
    await maker.end();
  }
});

test('an event of a day that has no partition yet is kept, and moves into it when it is made', async () => {
  const now = new Date('2031-03-04T23:59:59.999Z');
  const event = { clientId: 'A', type: 'DEBIT_TRANSACTION' as const, body: '{}', now };
  await transaction(pool, (tx) => notify(tx, event));
  const where = async () =>
    (
      await pool.query<{ name: string }>('select tableoid::regclass::text as name from webhook_events order by id')
    ).rows.map((row) => row.name);
  assert.deepEqual(await where(), ['webhook_events_default']);
  await createDays(pool, now);
  await createDays(pool, now);
  assert.deepEqual(await where(), ['webhook_events_20310304']);
  await transaction(pool, (tx) => notify(tx, { ...event, now: new Date('2031-03-05T00:00:00Z') }));
  assert.deepEqual(await where(), ['webhook_events_20310304', 'webhook_events_20310305']);
});

test('retention drops whole days and keeps the rest', async () => {
  const now = new Date('2031-03-06T12:00:00Z');
  assert.deepEqual(await dropOldDays(pool, 2, now), []);
  assert.deepEqual(await dropOldDays(pool, 1, now), ['2031-03-04']);
  const { rows } = await pool.query('select created_at from webhook_events');
  assert.deepEqual(rows, [{ created_at: new Date('2031-03-05T00:00:00Z') }]);
  const left = await pool.query(
    "select to_regclass('attempts_20310304') as attempts, to_regclass('notifications_20310304') as notifications",
  );
  assert.deepEqual(left.rows, [{ attempts: null, notifications: null }]);
});
