import assert from 'node:assert/strict';
import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto';
import { describe, test } from 'node:test';
import { hmacSha3, sha3 } from '../../sdk/src/sha3.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytes = (text: string) => Buffer.from(text, 'hex');

describe('SHA3-256', () => {
  /** FIPS 202's example values of the NIST (1600 bits of a3), its CAVP's ShortMsg file, and the usual texts. */
  const VECTORS: [string, Uint8Array, string][] = [
    ['nothing', bytes(''), 'a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a'],
    ['CAVP, 8 bits', bytes('e9'), 'f0d04dd1e6cfc29a4460d521796852f25d9ef8d28b44ee91ff5b759d72c1e6d6'],
    ['CAVP, 16 bits', bytes('d477'), '94279e8f5ccdf6e17f292b59698ab4e614dfe696a46c46da78305fc6a3146ab7'],
    ['abc', Buffer.from('abc'), '3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532'],
    [
      '448 bits',
      Buffer.from('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq'),
      '41c0dba2a9d6240849100376a8235e2c82e1b9998a999e21db32dd97496d3376',
    ],
    ['1600 bits', Buffer.alloc(200, 0xa3), '79f38adec5c20307a98ef76e8324afbfd46cfd81b22e3973c65fa1bd9de31787'],
    ['a million a', Buffer.alloc(1_000_000, 'a'), '5c8875ae474a3634ba4fd55ec85bffd661f32aca75c6d699d0cdcb6c115891c1'],
  ];
  for (const [name, message, digest] of VECTORS) {
    test(`NIST vector: ${name}`, () => assert.equal(hex(sha3(message)), digest));
  }

  test('every length around the block is what node:crypto says, whole and in parts', () => {
    for (let length = 0; length <= 3 * 136 + 1; length += 1) {
      const message = randomBytes(length);
      const expected = createHash('sha3-256').update(message).digest('hex');
      assert.equal(hex(sha3(message)), expected, message.toString('hex'));
      const cut = randomInt(length + 1);
      assert.equal(hex(sha3(message.subarray(0, cut), message.subarray(cut))), expected, message.toString('hex'));
    }
  });
});

describe('HMAC-SHA3-256', () => {
  /** The NIST's examples: a key shorter than the block, as long, longer. */
  const VECTORS: [number, string, string][] = [
    [32, 'Sample message for keylen<blocklen', '4fe8e202c4f058e8dddc23d8c34e467343e23555e24fc2f025d598f558f67205'],
    [136, 'Sample message for keylen=blocklen', '68b94e2e538a9be4103bebb5aa016d47961d4d1aa906061313b557f8af2c3faa'],
    [168, 'Sample message for keylen>blocklen', '9bcf2c238e235c3ce88404e813bd2f3a97185ac6f238c63d6229a00b07974258'],
  ];
  for (const [length, message, mac] of VECTORS) {
    test(`NIST example: a key of ${length} bytes`, () => {
      const key = Uint8Array.from({ length }, (_, i) => i);
      assert.equal(hex(hmacSha3(key, Buffer.from(message))), mac);
    });
  }

  test('any key and message give what node:crypto says', () => {
    for (let round = 0; round < 200; round += 1) {
      const [key, message] = [randomBytes(randomInt(300)), randomBytes(randomInt(600))];
      const expected = createHmac('sha3-256', key).update(message).digest('hex');
      assert.equal(
        hex(hmacSha3(key, message)),
        expected,
        `key ${key.toString('hex')} message ${message.toString('hex')}`,
      );
    }
  });
});
