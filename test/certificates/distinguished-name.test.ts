import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import * as asn1 from 'asn1js';
import fc from 'fast-check';
import { canonicalDistinguishedName, subjectOf } from '../../src/certificates/distinguished-name.ts';

interface Attribute {
  oid: string;
  tag: number;
  content: Buffer;
}

const OIDS = [
  '2.5.4.3', '2.5.4.4', '2.5.4.5', '2.5.4.6', '2.5.4.9', '2.5.4.10', '2.5.4.11', '2.5.4.12', '2.5.4.17', '2.5.4.42', '2.5.4.45', '2.5.4.46',
  '2.5.4.65', '2.5.4.97', '0.9.2342.19200300.100.1.1', '0.9.2342.19200300.100.1.25', '1.2.840.113549.1.9.1',
  '1.3.6.1.4.1.311.60.2.1.3', '1.3.6.1.4.1.99999.1', '1.2.3.4',
]; // biome-ignore format: a table

/** An unsigned certificate around a subject: OpenSSL prints names without looking at the signature. */
function certificateWith(components: Attribute[][]): Buffer {
  const algorithm = new asn1.Sequence({ value: [new asn1.ObjectIdentifier({ value: '1.2.840.10045.4.3.2' })] });
  const key = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' });
  const time = () => new asn1.UTCTime({ valueDate: new Date('2026-01-01') });
  const name = (parts: Attribute[][]) =>
    new asn1.Sequence({
      value: parts.map(
        (part) => new asn1.Set({ value: part.map(({ oid, tag, content }) => attribute(oid, tag, content)) }),
      ),
    });
  const issuer = name([[{ oid: '2.5.4.3', tag: 12, content: Buffer.from('issuer') }]]);
  const tbs = new asn1.Sequence({
    value: [
      new asn1.Constructed({ idBlock: { tagClass: 3, tagNumber: 0 }, value: [new asn1.Integer({ value: 2 })] }),
      new asn1.Integer({ value: 1 }), algorithm, issuer, new asn1.Sequence({ value: [time(), time()] }), name(components),
      asn1.fromBER(key).result,
    ], // biome-ignore format: the order of RFC 5280
  });
  const whole = new asn1.Sequence({ value: [tbs, algorithm, new asn1.BitString({ valueHex: new Uint8Array([0]) })] });
  return Buffer.from(whole.toBER());
}

function attribute(oid: string, tag: number, content: Buffer): asn1.Sequence {
  const value = new asn1.Primitive({ idBlock: { tagClass: 1, tagNumber: tag }, valueHex: new Uint8Array(content) });
  return new asn1.Sequence({ value: [new asn1.ObjectIdentifier({ value: oid }), value] });
}

function opensslSubject(der: Buffer): string {
  const args = ['x509', '-inform', 'DER', '-noout', '-subject', '-nameopt', 'RFC2253,utf8,-esc_msb'];
  const { status, stdout, stderr } = spawnSync('openssl', args, { input: der });
  assert.equal(status, 0, stderr.toString());
  return stdout
    .toString('utf8')
    .replace(/^subject=/, '')
    .replace(/\n$/, '');
}

const character = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...' #+,;=<>"\\/aB0é\u00a0аＡ\u202e') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('\0', '\n', '\r', '\t', '\x1f', '\x7f', '\x80', '\x9f', '\ufeff', '€', '漢'),
  },
  { weight: 1, arbitrary: fc.constantFrom('😀', '𝐀') },
);
const text = fc.array(character, { maxLength: 8 }).map((letters) => letters.join(''));

const value: fc.Arbitrary<{ tag: number; content: Buffer }> = fc.oneof(
  text.map((letters) => ({ tag: 12, content: Buffer.from(letters, 'utf8') })),
  fc
    .tuple(fc.constantFrom(18, 19, 20, 22), text)
    .map(([tag, letters]) => ({ tag, content: Buffer.from(letters.replace(/[^\0-\xff]/g, '?'), 'latin1') })),
  text.map((letters) => ({
    tag: 30,
    content: Buffer.from(letters.replace(/[\ud800-\udfff]/g, '?'), 'utf16le').swap16(),
  })),
  text.map((letters) => ({
    tag: 28,
    content: Buffer.concat([...letters].map((letter) => Buffer.from([0, ...codePoint(letter)]))),
  })),
  fc.uint8Array({ minLength: 1, maxLength: 5 }).map((bytes) => ({ tag: 3, content: Buffer.from([0, ...bytes]) })),
);

function codePoint(letter: string): number[] {
  const point = letter.codePointAt(0) ?? 0;
  return [(point >> 16) & 255, (point >> 8) & 255, point & 255];
}

const component = fc.array(
  fc.tuple(fc.constantFrom(...OIDS), value).map(([oid, { tag, content }]) => ({ oid, tag, content })),
  { minLength: 1, maxLength: 3 },
);

test('subjects are printed as OpenSSL prints them, whatever is in them', () => {
  fc.assert(
    fc.property(fc.array(component, { minLength: 1, maxLength: 4 }), (components) => {
      const der = certificateWith(components);
      assert.equal(subjectOf(der), opensslSubject(der));
    }),
    { numRuns: 100 },
  );
});

test('a printed subject is read again as itself, and has one canonical spelling', () => {
  fc.assert(
    fc.property(fc.array(component, { minLength: 1, maxLength: 4 }), (components) => {
      const subject = subjectOf(certificateWith(components));
      assert.ok(subject !== undefined);
      const canonical = canonicalDistinguishedName(subject);
      assert.ok(canonical !== undefined, subject);
      assert.equal(canonicalDistinguishedName(canonical), canonical);
      const shuffled = subjectOf(certificateWith(components.map((part) => [...part].reverse())));
      assert.equal(canonicalDistinguishedName(shuffled ?? ''), canonical);
    }),
    { numRuns: 700 },
  );
});

test('two subjects with one canonical spelling have the same parts', () => {
  const plain = fc.array(
    fc.array(
      fc.tuple(
        fc.constantFrom('2.5.4.3', '2.5.4.10'),
        text.map((letters) => letters.slice(0, 2)),
      ),
      { minLength: 1, maxLength: 2 },
    ),
    { minLength: 1, maxLength: 2 },
  );
  const meaning = (name: [string, string][][]) =>
    JSON.stringify(name.map((part) => part.map((pair) => JSON.stringify(pair)).sort()));
  const subject = (name: [string, string][][]) =>
    subjectOf(
      certificateWith(
        name.map((part) => part.map(([oid, letters]) => ({ oid, tag: 12, content: Buffer.from(letters) }))),
      ),
    );
  fc.assert(
    fc.property(plain, plain, (left, right) => {
      const [a, b] = [
        canonicalDistinguishedName(subject(left) ?? ''),
        canonicalDistinguishedName(subject(right) ?? ''),
      ];
      if (a === undefined || b === undefined) return; // a half surrogate pair, cut by the slice
      assert.equal(a === b, meaning(left) === meaning(right), `${a} ${b}`);
    }),
    { numRuns: 1000 },
  );
});

test('spellings of one name are one, look-alikes are not', () => {
  const same: [string, string][] = [
    ['CN=acme,O=Acme Ltd,C=GB', 'cn=acme, o=Acme Ltd, c=GB'],
    ['CN=acme,O=Acme Ltd,C=GB', '2.5.4.3=acme,OID.2.5.4.10=Acme Ltd,countryName=GB'],
    ['CN=acme+OU=desk,C=GB', 'OU=desk + CN=acme,C=GB'],
    ['CN=a\\,b', 'CN=a\\2Cb'],
    ['CN=\\ a\\ ', 'CN=  \\20a\\20  '],
    ['CN=é', 'CN=\\C3\\A9'],
    ['CN=acme', 'CN=#0C0461636D65'],
    ['1.3.6.1.4.1.99999.1=#0C0161', 'OID.1.3.6.1.4.1.99999.1=#0c0161'],
    ['emailAddress=a@b', 'E=a@b'],
  ];
  for (const [left, right] of same)
    assert.equal(canonicalDistinguishedName(right), canonicalDistinguishedName(left), right);
  const registered = canonicalDistinguishedName('CN=acme,O=Acme Ltd,C=GB');
  const others = [
    'CN=Acme,O=Acme Ltd,C=GB', 'CN=acme ,O=Acme  Ltd,C=GB', 'CN=аcme,O=Acme Ltd,C=GB', 'CN=acme\\00,O=Acme Ltd,C=GB', 'CN=acme\\ ,O=Acme Ltd,C=GB',
    'C=GB,O=Acme Ltd,CN=acme', 'CN=acme,O=Acme Ltd', 'CN=acme,O=Acme Ltd,C=GB,C=GB', 'CN=acme+O=Acme Ltd,C=GB', 'CN=acme\\,O=Acme Ltd,C=GB',
    'CN=acme,OU=Acme Ltd,C=GB', 'CN=ａcme,O=Acme Ltd,C=GB', 'UID=acme,O=Acme Ltd,C=GB', 'CN=acme,O=Acme Ltd,C=GB\u200b',
  ]; // biome-ignore format: a table
  for (const other of others) assert.notEqual(canonicalDistinguishedName(other), registered, other);
  assert.notEqual(canonicalDistinguishedName('CN=\u00e9'), canonicalDistinguishedName('CN=e\u0301'));
});

test('what is not a name is refused', () => {
  const wrong = [
    '', ' ', 'acme', '=acme', 'CN', 'nosuch=acme', 'CN=a,', ',CN=a', 'CN=a+', 'CN=a"b', 'CN=a;O=b', 'CN=<a>', 'CN="a"', 'CN=a\\', 'CN=a\\zz', 'CN=\\FF',
    '1.3.6.1.4.1.99999.1=text', 'CN=#0C', 'CN=#0C0561', `CN=${'a'.repeat(5000)}`, '/C=GB/CN=acme', 'CN=#2C03040161',
  ]; // biome-ignore format: a table
  for (const text of wrong) assert.equal(canonicalDistinguishedName(text), undefined, text);
});

test('a subject whose bytes are not what their type says cannot be read', () => {
  const broken: [number, Buffer][] = [
    [12, Buffer.from([0xff])],
    [30, Buffer.from([0xd8, 0, 0xdc, 0])],
    [30, Buffer.from([0])],
    [28, Buffer.from([0, 0x11, 0, 0])],
  ];
  for (const [tag, content] of broken)
    assert.equal(subjectOf(certificateWith([[{ oid: '2.5.4.3', tag, content }]])), undefined);
  assert.equal(subjectOf(Buffer.from('not a certificate')), undefined);
  assert.equal(subjectOf(certificateWith([])), '');
});

test('short names of types know no case: uid is the userid of RFC 4514', () => {
  for (const name of ['uid', 'Uid', 'userid', '0.9.2342.19200300.100.1.1'])
    assert.equal(canonicalDistinguishedName(`${name}=acme,O=Acme Ltd`), 'UID=acme,O=Acme Ltd', name);
  assert.equal(canonicalDistinguishedName('uniqueIdentifier=acme'), 'uniqueIdentifier=acme');
});
