import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { schemaOf } from '../world/iso20022.ts';

/** SHA-256 of the files that ISO 20022 publishes. */
const PUBLISHED = {
  'pain.001.001.03': 'ae2bbba02a6be0119a26f4afcb65ced067453cb1b81d38b26bcc569f19eca93e',
  'pain.001.001.09': 'de038b373e47b0077b1832ddd81f4b2f1eb25d35721f62da1e38b7f5a09fda24',
  'pain.002.001.10': '2f9f8d0e9891fa9f31ccf0576397afe501614384d688ae6e43ba694b3d24b0cf',
  'camt.053.001.08': 'ca0b135cc8e2dde5b2f99af6b6c514a8f29d6e7c6cf98e9ea84d247189868ff5',
} as const;

for (const [message, sha256] of Object.entries(PUBLISHED))
  test(`the schema of ${message} stands as it was published`, () => {
    const bytes = readFileSync(schemaOf(message as keyof typeof PUBLISHED));
    assert.equal(createHash('sha256').update(bytes).digest('hex'), sha256);
  });
