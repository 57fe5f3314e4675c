import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { readConfig } from '../../src/settings/config.ts';

const folder = mkdtempSync(join(tmpdir(), 'lombard-settings-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The message that stops a start with these variables. It has one line. */
function refused(environment: Record<string, string>): string {
  let message = '';
  assert.throws(
    () => readConfig(environment),
    (error: Error) => {
      assert.equal(error.name, 'StartupError');
      ({ message } = error);
      return true;
    },
    JSON.stringify(environment),
  );
  assert.ok(!message.includes('\n'), message);
  return message;
}

describe('LOMBARD_MASTER_KEY', () => {
  const [first, second] = [Buffer.alloc(32, 0xfb), Buffer.alloc(32, 7)];
  const [one, other] = [first.toString('base64'), second.toString('base64')];
  const keysOf = (text: string) => readConfig({ LOMBARD_MASTER_KEY: text }).masterKeys;

  test('takes base64 of 32 bytes, with or without padding, in either alphabet, one or several', () => {
    for (const text of [one, one.replace('=', ''), first.toString('base64url'), ` ${one} `])
      assert.deepEqual(keysOf(text), [first], text);
    assert.deepEqual(keysOf(`${one}, ${other}`), [first, second]);
  });

  test('takes nothing else, and does not show it', () => {
    for (const text of [
      ...[
        `${one};${other}`,
        `${one} ${other}`,
        `${one}\n${other}`,
        `${one}garbage`,
        `!!${one}**`,
        `${one}=`,
        `=${one}`,
      ],
      ...[one.replace('=', '=='), one.slice(1), `A${one}`, `${one},`, `${one},,${other}`, `${one},${other};`, ' ', ','],
      // The last letter has two bits that no byte has.
      one.replace('s=', 't='),
    ])
      assert.match(refused({ LOMBARD_MASTER_KEY: text }), /^LOMBARD_MASTER_KEY: must be 32 bytes in base64, [^;*!]+$/);
  });
});

test('a secret in a file that is empty', () => {
  const path = join(folder, 'empty');
  for (const name of ['LOMBARD_MASTER_KEY', 'LOMBARD_OPERATOR_TOKEN', 'DATABASE_URL', 'SMTP_URL', 'LOMBARD_SMS_URL'])
    for (const content of ['', '\n', '\r\n']) {
      writeFileSync(path, content);
      assert.equal(
        refused({ [`${name}_FILE`]: path }),
        `${name}_FILE: must be a file with the secret in it (it is empty), not "${path}"`,
      );
    }
});

describe('addresses', () => {
  const publicUrls = ['LOMBARD_API_URL', 'LOMBARD_AUTH_URL', 'LOMBARD_TRUSTED_URL', 'LOMBARD_OPERATOR_URL'];

  test('a public one is taken with a port and a path', () => {
    for (const [text, taken] of [
      ['https://a/', 'https://a'],
      ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
      ['https://[::1]:8443/', 'https://[::1]:8443'],
      ['https://bücher.example/lombard/', 'https://bücher.example/lombard'],
      ['https://a/@x', 'https://a/@x'],
    ] as const)
      assert.equal(readConfig({ LOMBARD_API_URL: text }).apiUrl, taken);
  });

  for (const name of publicUrls)
    test(`${name} takes no other form`, () => {
      for (const text of [
        ...[
          'https://a/?',
          'https://a/#',
          'https://a?',
          'https://a/?b',
          'https://a ',
          ' https://a',
          'https://a/ b',
          'https://a\n',
        ],
        ...[
          'https:a',
          'https:/a',
          'https:///a',
          'https:\\\\a',
          'https://',
          'https://a\\b',
          'https://ex\tample',
          'ftp://a',
          'a',
        ],
      ]) {
        const message = refused({ [name]: text });
        assert.ok(message.startsWith(`${name}: must be an `), message);
        assert.ok(message.endsWith(`, not ${JSON.stringify(text)}`), message);
      }
    });

  test('a password in an address is never shown', () => {
    const others = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'LOMBARD_STAFF_ISSUER'];
    for (const address of ['https://u:secretpw@h', 'https://:secretpw@h', 'https://secretpw@h', 'https:u:secretpw@h'])
      for (const name of publicUrls) {
        const message = refused({ [name]: address });
        assert.ok(message.startsWith(`${name}: must be `) && message.includes('***@h"'), message);
        assert.ok(!message.includes('secretpw'), message);
      }
    for (const address of [
      'htps://u:secretpw@h',
      'https://u:secret/secretpw@h',
      'https:u:secretpw@h',
      'https://u:secretpw@',
    ])
      for (const name of [...others, 'LOMBARD_HOST', 'SMTP_URL', 'LOMBARD_SMS_URL', 'DATABASE_URL']) {
        const message = refused({ [name]: address });
        assert.ok(message.startsWith(`${name}: `) && !message.includes('secretpw'), message);
      }
    const issuer = { LOMBARD_STAFF_ISSUER: 'https://u:secretpw@h' };
    assert.match(refused(issuer), /^LOMBARD_STAFF_ISSUER: needs .*"https:\/\/\*\*\*@h"\)$/);
    const staff = { LOMBARD_STAFF_CLIENT_ID: 'a', LOMBARD_STAFF_CLIENT_SECRET: 'b', LOMBARD_STAFF_ROLES: 'a:b=core' };
    assert.match(refused({ LOMBARD_STAFF_ISSUER: 'http://u:secretpw@h', ...staff }), /, not "http:\/\/\*\*\*@h"$/);
  });

  test('one without a host is refused', () => {
    for (const [name, text] of [
      ...['smtp:', 'smtp://', 'smtps://', 'smtp://u:p@', 'smtp:host', ' smtp://h', 'smtp://h\n'].map((text) => [
        'SMTP_URL',
        text,
      ]),
      ...['https:', 'https://', 'https:h'].map((text) => ['LOMBARD_SMS_URL', text]),
      ...['http:', 'http:h', 'http://h '].map((text) => ['OTEL_EXPORTER_OTLP_ENDPOINT', text]),
    ] as [string, string][])
      assert.match(refused({ [name]: text }), new RegExp(`^${name}: must be an address that begins with `));
    for (const text of ['smtp://h', 'SMTPS://user:p%40ss@h:465/?pool=true', 'smtp://u:p w@[::1]'])
      assert.equal(readConfig({ SMTP_URL: text }).smtpUrl, text);
  });
});

test('LOMBARD_MAIL_FROM is one mail address, with a name or without', () => {
  for (const text of [
    '@ ',
    'a@@',
    '@',
    'a@',
    '@b',
    'a b@c',
    'a@b c',
    'a@b, c@d',
    'Bank <a@b',
    'Bank a@b>',
    'Bank <a>',
    '<@b>',
    'a@b\nBcc: c@d',
  ])
    assert.match(refused({ LOMBARD_MAIL_FROM: text }), /^LOMBARD_MAIL_FROM: must be a mail address, not "/, text);
  for (const text of [
    'a@b',
    'Lombard <no-reply@localhost>',
    '<a@b>',
    '"Bank, Ltd" <a+b@bank.example>',
    'Bänk <a@bücher.example>',
  ])
    assert.equal(readConfig({ LOMBARD_MAIL_FROM: text }).mailFrom, text);
});

test('a list of only blanks is refused; an empty variable counts as unset', () => {
  const issuer = { LOMBARD_STAFF_ISSUER: 'https://h', LOMBARD_STAFF_CLIENT_ID: 'a', LOMBARD_STAFF_CLIENT_SECRET: 'b' };
  for (const name of [
    'LOMBARD_STAFF_ROLES',
    'LOMBARD_WEBHOOK_RETRIES',
    'LOMBARD_ROLES',
    'LOMBARD_WEBHOOK_ALLOW',
    'LOMBARD_PROXIES',
  ])
    for (const blanks of [' ', '   '])
      assert.equal(
        refused({ ...(name === 'LOMBARD_STAFF_ROLES' ? issuer : {}), [name]: blanks }).split(',')[0],
        `${name}: must be a list without empty items`,
      );
  assert.equal(readConfig({ LOMBARD_WEBHOOK_RETRIES: '' }).webhookRetries.length, 10);
  assert.deepEqual(readConfig({ LOMBARD_WEBHOOK_ALLOW: '' }).webhookAllow, []);
});
