import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { verifyNotification } from '../../sdk/src/index.ts';
import { describeWebhooks } from '../../src/http/client/notification-descriptions.ts';
import { Signer } from '../../src/webhooks/delivery/signer.ts';
import { UNREAD_SETTINGS } from '../../src/webhooks/endpoint-settings.ts';
import { type NotificationType, TYPE_NAMES } from '../../src/webhooks/notification.ts';
import { page } from '../docs/pages.ts';
import { REPOSITORY } from '../world/command.ts';

/** One file for the engine, the SDK, the snippets of the page and the integrators: docs/examples/notifications.json. */

interface Vector {
  type: NotificationType;
  webhook: string;
  secret: string;
  url: string;
  notification_id: string;
  timestamp: number;
  body: string;
  signature: string;
  webhook_signature: string;
}
const vectors: Vector[] = JSON.parse(readFileSync(join(REPOSITORY, 'docs/examples/notifications.json'), 'utf8'));

test('there is a vector for each type, with the body that the description shows', () => {
  assert.deepEqual(Object.fromEntries(vectors.map(({ type, webhook }) => [type, webhook])), TYPE_NAMES);
  // biome-ignore lint/suspicious/noExplicitAny: a document of another standard
  const described: any = describeWebhooks('Service');
  for (const { webhook, body } of vectors)
    assert.deepEqual(
      JSON.parse(body),
      described[webhook].post.requestBody.content['application/json'].example,
      `${webhook}: the example has changed; write it and its signatures into the file and the page`,
    );
});

test('the page shows the body of each vector', () => {
  const shown = page('docs/notifications.md').blocks.filter(({ language }) => language === 'json');
  assert.deepEqual(
    shown.map(({ text }) => JSON.parse(text)),
    vectors.map(({ body }) => JSON.parse(body)),
  );
});

describe('both signatures are those', () => {
  test('that the engine sends', () => {
    const signer = new Signer('Service');
    for (const each of vectors) {
      const settings = { ...UNREAD_SETTINGS, urlText: each.url, url: new URL(each.url), secret: each.secret };
      const delivery = {
        id: each.notification_id,
        clientId: 'CLI000001',
        type: each.type,
        attempts: 0,
        body: each.body,
      };
      const startedAt = new Date(each.timestamp * 1_000);
      const headers = signer.headers(settings, { deliveryId: 'any', startedAt, delivery });
      assert.equal(headers[headers.indexOf('X-Service-Signature') + 1], each.signature, each.webhook);
      assert.equal(headers[headers.indexOf('webhook-signature') + 1], each.webhook_signature, each.webhook);
    }
  });

  test('that the SDK takes, and a changed body is refused', async () => {
    for (const { url, secret, ...each } of vectors) {
      const headers = {
        'X-Service-Client-Id': 'CLI000001',
        'X-Service-Signature': each.signature,
        'X-Service-Webhook': each.webhook,
        'X-Service-Notification-Id': each.notification_id,
        'webhook-id': each.notification_id,
        'webhook-timestamp': String(each.timestamp),
        'webhook-signature': each.webhook_signature,
      };
      const tolerance = Number.MAX_SAFE_INTEGER;
      const taken = await verifyNotification({ url, secret, headers, body: each.body, tolerance });
      assert.equal(taken.type, each.type);
      assert.deepEqual(JSON.parse(JSON.stringify(taken.body)), JSON.parse(each.body));
      await assert.rejects(verifyNotification({ url, secret, headers, body: `${each.body} `, tolerance }), {
        code: 'signature_invalid',
      });
    }
  });

  test('that the snippets of the page take, in Node and in Python', async () => {
    const snippet = (language: string) =>
      page('docs/notifications.md').blocks.find((block) => block.language === language)?.text ?? '';
    const folder = mkdtempSync(join(tmpdir(), 'lombard-vectors-'));
    try {
      writeFileSync(join(folder, 'snippet.mjs'), `${snippet('js')}\nexport { isSigned };\n`);
      const { isSigned } = await import(pathToFileURL(join(folder, 'snippet.mjs')).href);
      for (const each of vectors) {
        assert.ok(isSigned(each), each.webhook);
        assert.ok(!isSigned({ ...each, body: `${each.body} ` }), each.webhook);
      }
      const check = `${snippet('python')}
import json, sys
for each in json.load(open(sys.argv[1])):
    given = (each["secret"], each["url"], each["body"].encode())
    assert is_signed(*given, each["signature"]), each["webhook"]
    assert not is_signed(*given, each["signature"] + "0"), each["webhook"]
`;
      const vectorsFile = join(REPOSITORY, 'docs/examples/notifications.json');
      const { status, stderr, error } = spawnSync('python3', ['-c', check, vectorsFile], { encoding: 'utf8' });
      if (!error) assert.equal(status, 0, stderr);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
