import assert from 'node:assert/strict';
import { test } from 'node:test';
import Big from 'big.js';
import fc from 'fast-check';
import { LOCKS } from '../src/database/locks.ts';
import { marketsOpen, nextOpening } from '../src/exchange/fx-availability.ts';
import { keepDigits } from '../src/http/schemas/validation.ts';
import { endsWithin, inTime } from '../src/process/deadline.ts';
import type { Logger } from '../src/process/log.ts';
import { Periodic } from '../src/process/periodic.ts';
import { readConfig } from '../src/settings/config.ts';
import { BoundedMap } from '../src/values/bounded-map.ts';
import {
  addDays,
  daysBetween,
  isCalendarDay,
  londonDay,
  londonTimestamp,
  newYorkTime,
  parseInstant,
  startOfLondonDay,
} from '../src/values/calendar.ts';
import { equalSecrets, Vault } from '../src/values/crypto.ts';
import { isUuid } from '../src/values/identifiers.ts';
import { exact, parseJson, TooManyValues, writtenDigits } from '../src/values/json.ts';
import { decimal, sum } from '../src/values/money.ts';
import { textArray } from '../src/values/text-array.ts';

const seed = Number(process.env.SEED ?? 20_260_701);
const property = (name: string, check: fc.IProperty<unknown[]>) =>
  test(`${name} (seed ${seed})`, () => fc.assert(check, { seed, numRuns: 2_000 }));

test('London timestamps carry the offset of their instant, both clock changes included', () => {
  for (const [utc, london] of [
    ['2026-07-01T09:15:00Z', '2026-07-01T10:15:00+01:00'],
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00+00:00'],
    ['2026-03-29T00:59:59Z', '2026-03-29T00:59:59+00:00'],
    ['2026-03-29T01:00:00Z', '2026-03-29T02:00:00+01:00'],
    ['2026-10-25T00:59:59Z', '2026-10-25T01:59:59+01:00'],
    ['2026-10-25T01:00:00Z', '2026-10-25T01:00:00+00:00'],
    ['1970-06-01T00:00:00Z', '1970-06-01T01:00:00+01:00'],
  ] as const) {
    assert.equal(londonTimestamp(new Date(utc)), london);
  }
});

test('a London day begins at its own midnight', () => {
  for (const [day, start] of [
    ['2026-07-01', '2026-06-30T23:00:00.000Z'],
    ['2026-03-29', '2026-03-29T00:00:00.000Z'],
    ['2026-03-30', '2026-03-29T23:00:00.000Z'],
    ['2026-10-25', '2026-10-24T23:00:00.000Z'],
    ['2026-10-26', '2026-10-26T00:00:00.000Z'],
  ] as const) {
    assert.equal(startOfLondonDay(day).toISOString(), start);
  }
});

property(
  'an instant lies between the beginnings of its London day and of the next',
  fc.property(
    fc.date({ min: new Date('1990-01-01Z'), max: new Date('2090-01-01Z'), noInvalidDate: true }),
    (instant) => {
      const day = londonDay(instant);
      assert.ok(startOfLondonDay(day) <= instant && instant < startOfLondonDay(addDays(day, 1)));
      assert.equal(new Date(londonTimestamp(instant)).getTime(), Math.floor(instant.getTime() / 1000) * 1000);
      assert.equal(londonTimestamp(instant).slice(0, 10), day);
    },
  ),
);

property(
  'a calendar day is one that Date writes back',
  fc.property(fc.nat(9_999), fc.nat(13), fc.nat(32), (year, month, day) => {
    const text = [String(year).padStart(4, '0'), ...[month, day].map((part) => String(part).padStart(2, '0'))].join(
      '-',
    );
    const time = Date.parse(`${text}T00:00:00Z`);
    const shown = !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
    assert.equal(isCalendarDay(text), shown && year > 0, text);
  }),
);

test('calendar days are real days', () => {
  for (const day of ['2026-02-28', '2024-02-29', '0001-01-01', '9999-12-31']) assert.ok(isCalendarDay(day), day);
  for (const day of [
    '2026-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-1-1',
    '20260101',
    '0000-01-01',
    '2026-04-31',
    '2026-01-01T00:00:00Z',
    '',
  ]) {
    assert.ok(!isCalendarDay(day), day);
  }
  assert.equal(daysBetween('2026-03-28', '2026-03-30'), 2);
  assert.equal(parseInstant('2026-02-30T00:00:00Z'), undefined);
  assert.equal(parseInstant('2026-02-20T00:00:00'), undefined);
  assert.equal(parseInstant('2026-02-20T12:00:00+01:00')?.toISOString(), '2026-02-20T11:00:00.000Z');
});

test('the FX week runs from Sunday 17:00 to Friday 17:00 in New York', () => {
  const auto = { mode: 'auto' as const, holidays: ['2026-12-25'] };
  for (const [utc, open] of [
    ['2026-11-22T21:59:59Z', false],
    ['2026-11-22T22:00:00Z', true],
    ['2026-11-25T12:00:00Z', true],
    ['2026-11-27T21:59:59Z', true],
    ['2026-11-27T22:00:00Z', false],
    ['2026-11-28T12:00:00Z', false],
    // Summer time: 17:00 in New York is 21:00 UTC.
    ['2026-07-05T20:59:59Z', false],
    ['2026-07-05T21:00:00Z', true],
    ['2026-12-25T15:00:00Z', false],
  ] as const) {
    assert.equal(marketsOpen(auto, new Date(utc)), open, utc);
  }
  assert.equal(marketsOpen({ mode: 'open', holidays: [] }, new Date('2026-11-28T12:00:00Z')), true);
  assert.equal(marketsOpen({ mode: 'closed', holidays: [] }, new Date('2026-11-25T12:00:00Z')), false);
  for (const [utc, opens] of [
    ['2026-11-27T22:00:00Z', '2026-11-29T22:00:00.000Z'],
    ['2026-07-05T20:59:59Z', '2026-07-05T21:00:00.000Z'],
    // A holiday ends at midnight in New York; this one is followed by a weekend.
    ['2026-12-25T15:00:00Z', '2026-12-27T22:00:00.000Z'],
  ] as const)
    assert.equal(nextOpening(auto, new Date(utc))?.toISOString(), opens, utc);
  const thursday = { mode: 'auto' as const, holidays: ['2026-11-26'] };
  assert.equal(nextOpening(thursday, new Date('2026-11-26T12:00:00Z'))?.toISOString(), '2026-11-27T05:00:00.000Z');
  assert.equal(nextOpening({ mode: 'closed', holidays: [] }, new Date('2026-11-25T12:00:00Z')), undefined);
  assert.deepEqual(newYorkTime(new Date('2026-07-05T21:00:00Z')), { weekday: 0, minutes: 1020, day: '2026-07-05' });
});

test('JSON keeps the digits that a double would lose', () => {
  const text = '{"a":12345678901234567.89,"b":0.1,"c":100.50,"d":1e3,"e":[1,-0,{"f":2}]}';
  const document = parseJson(text) as { e: unknown[] };
  assert.deepEqual(document, JSON.parse(text), 'a number is a number, whatever way it is written');
  assert.deepEqual(Object.fromEntries(writtenDigits(document)?.get(document) ?? []), {
    a: '12345678901234567.89',
    c: '100.50',
    d: '1e3',
  });
  assert.deepEqual([...(writtenDigits(document)?.get(document.e) ?? [])], [['1', '-0']]);
  assert.equal(writtenDigits(parseJson('{"a":0.1,"b":[1]}')), undefined);
  assert.equal(JSON.stringify({ amount: exact('100.50'), none: exact(null) }), '{"amount":100.50,"none":null}');
  assert.throws(() => parseJson('{"__proto__":{"admin":true}}'), SyntaxError);
  assert.throws(() => parseJson('{"\\u005f_proto__":{"admin":true}}'), SyntaxError);
  assert.throws(() => parseJson('{'), SyntaxError);
  assert.throws(() => parseJson('{"a":"\\"}'), SyntaxError);
});

property(
  'a document is parsed as JSON.parse does it',
  fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1), (value, space) => {
    const text = JSON.stringify(value, null, space);
    assert.deepEqual(parseJson(text), JSON.parse(text));
    assert.equal(writtenDigits(parseJson(text)), undefined);
  }),
);

test('a document of hundreds of thousands of values is refused before it is parsed', () => {
  for (const item of ['0', '0.0', '{}', '[]', '""'])
    assert.throws(() => parseJson(`[${`${item},`.repeat(300_000)}0]`), TooManyValues, item);
  assert.equal((parseJson(`["${',[{'.repeat(500_000)}"]`) as string[]).length, 1);
});

property(
  'a decimal goes through request, program and answer with the same digits',
  fc.property(fc.bigInt({ min: 1n, max: 10n ** 18n - 1n }), fc.stringMatching(/^[0-9]{0,8}$/), (integer, fraction) => {
    const text = fraction === '' ? String(integer) : `${integer}.${fraction}`;
    const body = parseJson(`{"amount":${text}}`) as { amount: unknown };
    keepDigits({ properties: { amount: { anyOf: [{ type: 'number' }, { type: 'string' }] } } }, body);
    const read = decimal(body.amount, 'body.amount', { positive: true });
    assert.equal(JSON.stringify({ amount: exact(read) }), `{"amount":${text}}`);
  }),
);

const plainDecimal = fc
  .tuple(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), fc.stringMatching(/^[0-9]{0,8}$/))
  .map(([integer, fraction]) => (fraction === '' ? String(integer) : `${integer}.${fraction}`));
property(
  'a sum has the digits of its parts',
  fc.property(plainDecimal, plainDecimal, (a, b) => {
    const decimals = Math.max(a.split('.')[1]?.length ?? 0, b.split('.')[1]?.length ?? 0);
    const exactly = new Big(a).plus(b);
    assert.equal(
      sum(a, b),
      exactly
        .abs()
        .toFixed(decimals)
        .replace(/^/, exactly.lt(0) ? '-' : ''),
    );
  }),
);

test('amounts that cannot be stored as they are get an error that names the field', () => {
  for (const value of [
    '',
    'abc',
    '1,5',
    '0x10',
    'NaN',
    'Infinity',
    '1.',
    '.5',
    null,
    undefined,
    true,
    {},
    [],
    '1'.repeat(19),
    '0.123456789',
    0,
    -1,
    '-0.01',
    '1e99',
  ]) {
    assert.throws(() => decimal(value, 'body.amount', { positive: true }), { code: 'invalid_body' }, String(value));
  }
  assert.equal(decimal('1e3', 'body.amount'), '1000');
  assert.equal(decimal('007.10', 'body.amount'), '7.10');
  assert.throws(() => decimal('1.005', 'body.amount', { decimals: 2 }), { code: 'invalid_body' });
});

test('a secret opens only under its key and for its purpose', () => {
  const vault = new Vault(Buffer.alloc(32, 1));
  const sealed = vault.seal('s3cret', 'application_secrets');
  assert.equal(vault.open(sealed, 'application_secrets'), 's3cret');
  assert.ok(!sealed.includes('s3cret'));
  assert.notDeepEqual(vault.seal('s3cret', 'application_secrets'), sealed);
  assert.throws(() => vault.open(sealed, 'totp_secret'));
  assert.throws(() => new Vault(Buffer.alloc(32, 2)).open(sealed, 'application_secrets'));
  assert.ok(equalSecrets('abc', 'abc') && !equalSecrets('abc', 'abd'));
});

test('the first key seals, every key opens, and a text from before texts had names opens as well', () => {
  const [one, two, three] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];
  const sealed = new Vault(one).seal('s3cret', 'totp_secret');
  assert.equal(new Vault(two, one).open(sealed, 'totp_secret'), 's3cret');
  assert.throws(() => new Vault(one).open(new Vault(two, one).seal('s3cret', 'totp_secret'), 'totp_secret'), {
    message: `the master key ${new Vault(two).names[0]} is not in LOMBARD_MASTER_KEY`,
  });
  assert.ok(!new Vault(one).names[0]?.includes(one.toString('hex').slice(0, 8)));
  const unnamed = sealed.subarray(10);
  assert.equal(new Vault(three, two, one).open(unnamed, 'totp_secret'), 's3cret');
  assert.throws(() => new Vault(two).open(unnamed, 'totp_secret'));
});

test('a wrong setting stops the start with one line that names it, and never shows a secret', () => {
  for (const [name, value, shown] of [
    ['LOMBARD_API_PORT', '80x', '80x'],
    ['LOMBARD_API_PORT', '65536', '65536'],
    ['LOMBARD_ENVIRONMENT', 'prod', 'prod'],
    ['LOMBARD_WEBHOOK_RETRIES', '5s,soon', 'soon'],
    ['LOMBARD_WEBHOOK_ALLOW', '10.0.0.0/33', '10.0.0.0/33'],
    ['LOMBARD_AUDIT_RETENTION_DAYS', 'always', 'always'],
    ['LOMBARD_ROLES', 'api,cook', 'cook'],
    ['LOMBARD_BRAND', 'a brand', 'a brand'],
    ['LOMBARD_TRACKING_CUTOFF', '2020-02-30', '2020-02-30'],
    ['LOMBARD_AUTOPILOT', 'yes', 'yes'],
    ['LOMBARD_LOG_LEVEL', 'loud', 'loud'],
    ['LOMBARD_MASTER_KEY', 'dG9vIHNob3J0', undefined],
    ['LOMBARD_OPERATOR_TOKEN', 'short', undefined],
    ['SMTP_URL', 'http://user:hunter2@host', undefined],
    ['DATABASE_URL', 'mysql://root:hunter2@host/db', undefined],
  ] as const) {
    assert.throws(
      () => readConfig({ [name]: value }),
      (error: Error) => {
        assert.equal(error.name, 'StartupError');
        assert.ok(error.message.startsWith(name), error.message);
        assert.ok(!error.message.includes('\n'));
        if (shown) assert.ok(error.message.includes(shown), error.message);
        else assert.ok(!error.message.includes(value), error.message);
        return true;
      },
    );
  }
});

test('production names everything that is unsafe at once', () => {
  assert.throws(
    () =>
      readConfig({ LOMBARD_ENVIRONMENT: 'production', LOMBARD_AUTOPILOT: '2s', LOMBARD_API_URL: 'http://api.example' }),
    (error: Error) => {
      for (const name of [
        'LOMBARD_MASTER_KEY',
        'LOMBARD_API_URL',
        'LOMBARD_AUTH_URL',
        'SMTP_URL',
        'DATABASE_URL',
        'LOMBARD_AUTOPILOT',
      ]) {
        assert.ok(error.message.includes(name), name);
      }
      return true;
    },
  );
  const settings = {
    LOMBARD_ENVIRONMENT: 'production',
    LOMBARD_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    LOMBARD_API_URL: 'https://api.example/',
    LOMBARD_AUTH_URL: 'HTTPS://auth.example',
    SMTP_URL: 'smtps://mail.example',
    DATABASE_URL: 'postgres://db/lombard',
  };
  const safe = readConfig(settings);
  assert.equal(safe.apiUrl, 'https://api.example');
  // A scheme has no case (RFC 3986, 3.1). Links, the issuer and the cookies of the pages have it in lower case.
  assert.equal(safe.authUrl, 'https://auth.example');
  const proxied = { LOMBARD_TRUSTED_PROXIES: '10.0.0.0/8', LOMBARD_TRUSTED_CA: '/etc/ca.pem' };
  const unsafe: [name: string, more: Record<string, string>][] = [
    ['LOMBARD_OPERATOR_URL', { LOMBARD_OPERATOR_URL: 'http://ops.example' }],
    ['LOMBARD_TRUSTED_URL', { LOMBARD_TRUSTED_URL: 'http://trusted.example' }],
    ['LOMBARD_TRUSTED_URL', proxied],
    ['LOMBARD_TRUSTED_URL', { ...proxied, LOMBARD_TRUSTED_URL: 'http://trusted.example' }],
  ];
  for (const [name, more] of unsafe)
    assert.throws(() => readConfig({ ...settings, ...more }), {
      message: `LOMBARD_ENVIRONMENT=production refuses to start: ${name} is not an https address`,
    });
  readConfig({ ...settings, LOMBARD_OPERATOR_URL: 'https://ops.example' });
  readConfig({ ...settings, ...proxied, LOMBARD_TRUSTED_URL: 'https://trusted.example' });
  assert.throws(
    () =>
      readConfig({
        LOMBARD_ENVIRONMENT: 'production',
        LOMBARD_STAFF_ISSUER: 'https://id.example',
        LOMBARD_STAFF_CLIENT_ID: 'console',
        LOMBARD_STAFF_CLIENT_SECRET: 'secret',
        LOMBARD_STAFF_ROLES: 'groups:x=support',
      }),
    /LOMBARD_OPERATOR_URL is not an https address/,
  );
  assert.deepEqual(safe.webhookAllow, []);
});

test('the settings of the sandbox are those of the documentation', () => {
  const config = readConfig({});
  assert.deepEqual(
    [
      config.apiPort,
      config.authPort,
      config.trustedPort,
      config.operatorPort,
      config.host,
      config.brand,
      config.apiRate,
      config.authRate,
    ],
    [8080, 8081, 8443, 8090, '127.0.0.1', 'Service', 500, 60],
  );
  assert.deepEqual(config.webhookRetries.slice(0, 3), [5_000, 60_000, 300_000]);
  assert.equal(config.webhookRetries.length, 10);
  assert.deepEqual(config.webhookAllow, [
    { address: '127.0.0.0', prefix: 8 },
    { address: '::1', prefix: 128 },
  ]);
  assert.deepEqual(readConfig({ LOMBARD_WEBHOOK_ALLOW: '' }).webhookAllow, []);
});

test('a bounded map drops the entry that was set longest ago; setting a key again makes it the newest', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);
  assert.equal([...map].join(' '), 'a,3 c,4');
});

test('a deadline ends the wait, and tells the result, the failure and the delay apart', async () => {
  const never = new Promise<never>(() => {});
  assert.equal(await endsWithin(Promise.resolve('done'), 60_000), true);
  assert.equal(await endsWithin(never, 1), false);
  await assert.rejects(endsWithin(Promise.reject(new Error('broken')), 60_000), /broken/);
  assert.equal(await inTime(Promise.resolve('done'), 60_000, () => new Error('late')), 'done');
  await assert.rejects(
    inTime(never, 1, () => new Error('late')),
    /late/,
  );
});

test('a periodic task runs at once, again when it is woken, and logs a lasting failure once', async () => {
  const warnings: unknown[] = [];
  const log = { warn: (fields: unknown) => warnings.push(fields) } as unknown as Logger;
  const runs: (() => void)[] = [];
  let count = 0;
  const periodic = new Periodic({
    name: 'test',
    intervalMs: 3_600_000,
    log,
    run: async () => {
      count += 1;
      runs.shift()?.();
      throw new Error('the same');
    },
  });
  await periodic.startNow();
  const second = new Promise<void>((resolve) => runs.push(resolve));
  periodic.wake();
  await second;
  await periodic.stop();
  periodic.wake();
  assert.equal(count, 2);
  assert.deepEqual(warnings, [{ task: 'test', reason: 'the same' }]);
});

test('a task that is woken faster than it is due runs all the same', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const log = { warn: assert.fail } as unknown as Logger;
  let runs = 0;
  const run = async () => {
    runs += 1;
  };
  const periodic = new Periodic({ name: 'test', intervalMs: 1_000, wakeAfterMs: 10, log, run });
  periodic.start();
  for (let ms = 0; ms < 10; ms += 1) {
    periodic.wake();
    t.mock.timers.tick(1);
  }
  assert.equal(runs, 1);
  await periodic.stop();
});

test('a list of texts is written as PostgreSQL reads it, whatever is in them', () => {
  assert.equal(textArray([]), '{}');
  assert.equal(textArray(['CLI1', '', 'a,b', '{null}']), '{"CLI1","","a,b","{null}"}');
  assert.equal(textArray(['a"b', 'c\\d']), '{"a\\"b","c\\\\d"}');
});

test('a UUID has its usual spelling; PostgreSQL would refuse other texts', () => {
  assert.ok(isUuid('018f5b0e-3c4d-7a6b-8c9d-0123456789AB'));
  for (const text of ['', '018f5b0e3c4d7a6b8c9d0123456789ab', '018f5b0e-3c4d-7a6b-8c9d-0123456789a', 'x'.repeat(36)]) {
    assert.ok(!isUuid(text), text);
  }
});

test('every advisory lock has a number of its own', () => {
  const numbers = Object.values(LOCKS);
  assert.equal(new Set(numbers).size, numbers.length);
});
