import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Authority, loadAuthority } from '../../src/certificates/authority.ts';
import { type RefusalReason, validateCertificate } from '../../src/certificates/validation.ts';
import { longestTurn } from '../world/longest-turn.ts';
import {
  certificateText,
  DAY,
  forged,
  type Holder,
  issue,
  longRevocationList,
  revocationList,
  SERVER_PURPOSE,
  x509,
} from '../world/pki.ts';

const now = new Date();
const root = await issue({ subject: 'CN=root,O=Bank,C=GB', ca: true });
const middle = await issue({ subject: 'CN=issuing,O=Bank,C=GB', ca: true, issuer: root });
const stranger = await issue({ subject: 'CN=stranger', ca: true });
const twin = await issue({ subject: 'CN=root,O=Bank,C=GB', ca: true });

const authority = await loadAuthority([certificateText(root.certificate)], []);

function judge(holder: Holder, against: Authority = authority, at: Date = now) {
  return validateCertificate(
    [holder.certificate, ...holder.chain].map(({ rawData }) => new Uint8Array(rawData)),
    against,
    at,
  );
}

function reasonOf(holder: Holder, against: Authority = authority, at: Date = now): RefusalReason | 'good' {
  const verdict = judge(holder, against, at);
  return verdict.ok ? 'good' : verdict.reason;
}

const client = (more: Partial<Parameters<typeof issue>[0]> = {}) =>
  issue({ subject: 'CN=acme,O=Acme Ltd,C=GB', issuer: root, ...more });

test('a good certificate: subject, thumbprint, and how long the verdict holds', async () => {
  const holder = await client({ until: new Date(now.getTime() + 3 * DAY) });
  const verdict = judge(holder);
  assert.ok(verdict.ok);
  assert.equal(verdict.subject, 'CN=acme,O=Acme Ltd,C=GB');
  assert.equal(
    verdict.thumbprint,
    Buffer.from(await holder.certificate.getThumbprint('SHA-256')).toString('base64url'),
  );
  assert.equal(Math.round((verdict.until.getTime() - now.getTime()) / DAY), 3);
});

test('key kinds and purposes that are accepted and refused', async () => {
  const rsa = (bits: number) => ({
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: bits,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
  });
  const rsaRoot = await issue({
    subject: 'CN=rsa root',
    ca: true,
    algorithm: rsa(2048),
    signing: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  });
  const oldRoot = await issue({
    subject: 'CN=old root',
    ca: true,
    algorithm: { ...rsa(2048), hash: 'SHA-1' },
    signing: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-1' },
  });
  const edwards = await issue({
    subject: 'CN=edwards root',
    ca: true,
    algorithm: { name: 'Ed25519' },
    signing: { name: 'Ed25519' },
  });
  const both = await loadAuthority(
    [certificateText(root.certificate, rsaRoot.certificate, oldRoot.certificate, edwards.certificate)],
    [],
  );
  const table: [string, Holder, RefusalReason | 'good'][] = [
    ['P-256', await client(), 'good'],
    ['P-384', await client({ algorithm: { name: 'ECDSA', namedCurve: 'P-384' } }), 'good'],
    ['RSA 2048', await client({ algorithm: rsa(2048) }), 'good'],
    ['RSA 1024', await client({ algorithm: rsa(1024) }), 'weak'],
    [
      'from an RSA authority',
      await client({ issuer: rsaRoot, signing: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } }),
      'good',
    ],
    ['with SHA-1', await client({ issuer: oldRoot, signing: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-1' } }), 'weak'],
    ['from an Ed25519 authority', await client({ issuer: edwards, signing: { name: 'Ed25519' } }), 'good'],
    ['without extended key usage', await client({ purposes: [] }), 'good'],
    ['for servers only', await client({ purposes: [SERVER_PURPOSE] }), 'wrong_purpose'],
    ['for servers and clients', await client({ purposes: [SERVER_PURPOSE, x509.ExtendedKeyUsage.clientAuth] }), 'good'],
    ['key agreement only', await client({ usages: x509.KeyUsageFlags.keyAgreement }), 'wrong_purpose'],
    [
      'critical unknown extension',
      await client({ more: [new x509.Extension('1.2.3.4', true, new Uint8Array([5, 0]))] }),
      'unsupported',
    ],
    [
      'harmless unknown extension',
      await client({ more: [new x509.Extension('1.2.3.4', false, new Uint8Array([5, 0]))] }),
      'good',
    ],
    [
      'the same extension twice',
      await client({ more: [new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true)] }),
      'malformed',
    ],
  ];
  for (const [name, holder, expected] of table) assert.equal(reasonOf(holder, both), expected, name);
});

test('chains', async () => {
  const leaf = await client({ issuer: middle });
  const servants = await issue({
    subject: 'CN=servers',
    ca: true,
    issuer: root,
    more: [new x509.ExtendedKeyUsageExtension([SERVER_PURPOSE])],
  });
  const flat = await issue({ subject: 'CN=flat', ca: true, issuer: root, pathLength: 0 });
  const below = await issue({ subject: 'CN=below', ca: true, issuer: flat });
  const late = await issue({
    subject: 'CN=late',
    ca: true,
    issuer: root,
    until: new Date(now.getTime() - DAY),
    from: new Date(now.getTime() - 2 * DAY),
  });
  const person = await client();
  const fenced = await issue({
    subject: 'CN=fenced',
    ca: true,
    issuer: root,
    more: [new x509.Extension('2.5.29.30', true, new Uint8Array([0x30, 0]))],
  });
  const table: [string, Holder, RefusalReason | 'good'][] = [
    ['through an intermediate that is sent', leaf, 'good'],
    ['through an intermediate that is not sent', { ...leaf, chain: [] }, 'unknown_authority'],
    [
      'with other certificates between',
      { ...leaf, chain: [stranger.certificate, ...leaf.chain, root.certificate] },
      'good',
    ],
    ['an authority for servers', await client({ issuer: servants }), 'wrong_purpose'],
    ['deeper than the path length', await client({ issuer: below }), 'wrong_purpose'],
    ['as deep as the path length', await client({ issuer: flat }), 'good'],
    ['an expired intermediate', await client({ issuer: late }), 'expired'],
    ['issued by a client', await client({ issuer: person, subject: 'CN=child' }), 'wrong_purpose'],
    ['below an authority with name constraints', await client({ issuer: fenced }), 'unsupported'],
    [
      'an authority that is not trusted, although sent',
      { ...(await client({ issuer: stranger })), chain: [stranger.certificate] },
      'unknown_authority',
    ],
    ['an authority with the name of a trusted one', await client({ issuer: twin }), 'bad_signature'],
  ];
  for (const [name, holder, expected] of table) assert.equal(reasonOf(holder), expected, name);
  const issuing = await loadAuthority([certificateText(middle.certificate)], []);
  assert.equal(reasonOf({ ...leaf, chain: [] }, issuing), 'good', 'an intermediate alone may be trusted');
  assert.equal(reasonOf(await client(), issuing), 'unknown_authority', 'but not what is beside it');
  const rollover = await loadAuthority([certificateText(twin.certificate, root.certificate)], []);
  assert.equal(reasonOf(leaf, rollover), 'good', 'two authorities of one name');
});

test('self-signed certificates are refused, in the list of authorities too', async () => {
  const own = await issue({ subject: 'CN=acme,O=Acme Ltd,C=GB' });
  const listed = await loadAuthority([certificateText(root.certificate, own.certificate)], []);
  assert.equal(reasonOf(own), 'self_signed');
  assert.equal(reasonOf(own, listed), 'self_signed');
  assert.equal(reasonOf(root), 'self_signed');
  const listedLeaf = await client({ issuer: stranger });
  assert.equal(
    reasonOf(listedLeaf, await loadAuthority([certificateText(listedLeaf.certificate)], [])),
    'unknown_authority',
  );
});

test('dates follow the clock that is passed in', async () => {
  const holder = await client();
  assert.equal(reasonOf(holder, authority, new Date(now.getTime() + 31 * DAY)), 'expired');
  assert.equal(reasonOf(holder, authority, new Date(now.getTime() - 2 * DAY)), 'not_yet_valid');
});

test('every single turned bit of a certificate makes it bad', async () => {
  const holder = await client();
  const der = Buffer.from(holder.certificate.rawData);
  for (let bit = 0; bit < der.length * 8; bit += 7) {
    const turned = Buffer.from(der);
    turned[bit >> 3]! ^= 1 << (bit & 7);
    const verdict = validateCertificate([turned], authority, now);
    assert.equal(verdict.ok, false, `bit ${bit}`);
  }
  assert.equal(reasonOf(forged(holder)), 'bad_signature');
});

test('revocation: a current list of every authority of the chain, signed by it', async () => {
  const [revoked, fine, deep] = [await client({ serial: '00ab01' }), await client(), await client({ issuer: middle })];
  const pems = [certificateText(root.certificate)];
  const ofRoot = await revocationList(root, [revoked.certificate.serialNumber]);
  const ofMiddle = await revocationList(middle, []);
  const lists = await loadAuthority(pems, [ofRoot, ofMiddle]);
  assert.equal(reasonOf(revoked, lists), 'revoked');
  assert.equal(reasonOf(fine, lists), 'good');
  assert.equal(reasonOf(deep, lists), 'good');
  assert.equal(reasonOf(deep, await loadAuthority(pems, [ofRoot])), 'revocation_unknown');
  assert.equal(reasonOf(fine, await loadAuthority(pems, [ofMiddle])), 'revocation_unknown');
  assert.equal(
    reasonOf(
      deep,
      await loadAuthority(pems, [await revocationList(root, [middle.certificate.serialNumber]), ofMiddle]),
    ),
    'revoked',
  );
  assert.equal(reasonOf(fine, await loadAuthority(pems, [await revocationList(twin, [])])), 'revocation_unknown');
  const stale = await revocationList(root, [], {
    from: new Date(now.getTime() - 3 * DAY),
    until: new Date(now.getTime() - DAY),
  });
  assert.equal(reasonOf(fine, await loadAuthority(pems, [stale])), 'revocation_unknown');
  const early = await revocationList(root, [], { from: new Date(now.getTime() + DAY) });
  assert.equal(reasonOf(fine, await loadAuthority(pems, [early])), 'revocation_unknown');
  assert.equal(
    reasonOf(
      revoked,
      await loadAuthority(pems, [await revocationList(root, [], { from: new Date(now.getTime() - DAY) }), ofRoot]),
    ),
    'revoked',
  );
});

test('a list of 30,000 is read beside the event loop, and the last entry counts', async () => {
  const serials = Array.from({ length: 30_000 }, (_, index) => (0x10000000 + index).toString(16));
  const last = await client({ serial: serials.at(-1) as string });
  const text = await longRevocationList(root, serials);
  const began = performance.now();
  const { result: lists, longest } = await longestTurn(() =>
    loadAuthority([certificateText(root.certificate)], [text]),
  );
  const took = performance.now() - began;
  assert.equal(reasonOf(last, lists), 'revoked');
  assert.ok(longest < 0.5 * took, `the event loop stood still for ${longest} of ${took} ms`);
});

test('what cannot be used as an authority or a list is refused when it is loaded', async () => {
  await assert.rejects(loadAuthority([], []), /no certificate authority/);
  await assert.rejects(loadAuthority(['nothing'], []), /no certificate in it/);
  await assert.rejects(loadAuthority([certificateText(root.certificate)], ['nothing']), /no list in it/);
  const broken = (await revocationList(root, [])).replace(/\n[A-Za-z0-9+/]{20}/, '\nAAAAAAAAAAAAAAAAAAAA');
  await assert.rejects(loadAuthority([certificateText(root.certificate)], [broken]), Error);
});
