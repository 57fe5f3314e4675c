import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { decimal, Lombard, LombardError, type ReceivedNotification, verifyNotification } from '../../sdk/src/index.ts';
import { accessToken } from '../world/access-token.ts';
import { createWorld } from '../world/client.ts';
import { answer, type Seen, startFaultServer } from '../world/faults.ts';
import { startTestService } from '../world/service.ts';
import { until } from '../world/until.ts';

const URL_SIGNED = 'https://hooks.example.com/lombard?tenant=ä';
const BODY =
  '{"data":[{"beneficiary_name":"Müller 😀","amount":12345678901234567.89}], "payment_webhook_status":["CREATED"]}';
const ID = '0199b7a0-0000-7000-8000-000000000001';
const SECRET = 'sécret';

const interfaceSignature = (secret: string, url = URL_SIGNED, body = BODY) =>
  `sha3-256=${createHmac('sha3-256', secret).update(url).update(body).digest('hex')}`;
function standardSignature(secret: string, timestamp: number, { id = ID, body = BODY } = {}): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret;
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}

/** A notification as the service sends it; a header that is undefined is left out. */
function sent(
  headers: Record<string, string | undefined> = {},
  { secret = SECRET, brand = 'Service', ageSeconds = 0 } = {},
) {
  const timestamp = Math.floor(Date.now() / 1_000) - ageSeconds;
  const all: Record<string, string | undefined> = {
    'Content-Type': 'application/json',
    [`X-${brand}-Client-Id`]: 'CLI000001',
    [`X-${brand}-Signature`]: interfaceSignature(secret),
    [`X-${brand}-Webhook`]: 'PaymentStatusChange',
    [`X-${brand}-Notification-Id`]: ID,
    [`X-${brand}-Delivery-Id`]: '9d1c',
    [`X-${brand}-Attempt-Number`]: '1',
    'webhook-id': ID,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standardSignature(secret, timestamp),
    ...headers,
  };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

const verify = (headers: ReceivedNotification['headers'], more: Partial<ReceivedNotification> = {}) =>
  verifyNotification({ url: URL_SIGNED, headers, body: BODY, secret: SECRET, ...more });

async function refused(work: Promise<unknown>, details: RegExp): Promise<void> {
  const error = await work.then(
    () => assert.fail(`was taken, not refused as ${details}`),
    (caught) => caught,
  );
  assert.ok(error instanceof LombardError, String(error));
  assert.equal(error.code, 'signature_invalid');
  assert.match(error.details, details);
}

test('what the service delivers is taken: each type of secret, the body as text and as bytes', async () => {
  const service = await startTestService({ LOMBARD_BRAND: 'Acme' });
  const receiver = await startFaultServer(answer(204));
  try {
    const world = await createWorld(service);
    const lombard = new Lombard({
      baseUrl: service.api,
      clientId: world.clientId,
      accessToken: await accessToken(service, world.contactId),
    });
    const secrets = ['', 'sécret', 'x'.repeat(300), `whsec_${randomBytes(24).toString('base64')}`, 'whsec_not base64'];
    for (const [index, secret] of secrets.entries()) {
      await lombard.subscriptions.create({
        url: `${receiver.url}/${index}?tenant=ä`,
        types: ['PAYMENT_STATUS_CHANGE'],
        active: true,
        secret,
      });
    }
    const { body: payment } = await world.pay({ amount: '123456789012345678.12345678' });
    for (const { id } of await lombard.subscriptions.list()) await lombard.subscriptions.ping(id);
    const expected = secrets.length * 3;
    await until(() => receiver.seen.length >= expected, { seen: () => receiver.seen.length });
    for (const seen of receiver.seen) {
      const index = Number(seen.path.slice(1));
      const given = { url: `${receiver.url}/${index}?tenant=ä`, headers: seen.headers, secret: secrets[index] ?? '' };
      const taken = await verifyNotification({ ...given, body: seen.body });
      assert.deepEqual(await verifyNotification({ ...given, body: Buffer.from(seen.body) }), taken);
      assert.equal(taken.id, seen.headers['x-acme-notification-id']);
      assert.equal(taken.clientId, world.clientId);
      assert.ok(taken.type === 'PING' || taken.type === 'PAYMENT_STATUS_CHANGE');
      if (taken.type === 'PAYMENT_STATUS_CHANGE') {
        const [one] = taken.body.data;
        assert.equal(one?.payment_id, payment.payment_id);
        assert.equal(one && decimal(one, 'amount'), '123456789012345678.12345678');
      }
      await refused(verifyNotification({ ...given, body: `${seen.body} ` }), /signature/);
    }
    const kinds = (seen: Seen) => seen.headers['x-acme-webhook'];
    assert.equal(receiver.seen.filter((seen) => kinds(seen) === 'Ping').length, secrets.length);
  } finally {
    await receiver.stop();
    await service.stop();
  }
});

describe('a notification is taken', () => {
  test('with headers of each kind, and the body of each kind', async () => {
    const headers = sent();
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]));
    for (const given of [
      headers,
      lists,
      new Headers(headers),
      new Map(Object.entries(headers)),
      Object.entries(headers),
    ]) {
      const taken = await verify(given);
      assert.deepEqual([taken.id, taken.type, taken.clientId], [ID, 'PAYMENT_STATUS_CHANGE', 'CLI000001']);
      assert.deepEqual(JSON.stringify(taken.body), JSON.stringify(JSON.parse(BODY)));
    }
    const bytes = new TextEncoder().encode(BODY);
    const inside = new Uint8Array(bytes.length + 7);
    inside.set(bytes, 3);
    const view = inside.subarray(3, 3 + bytes.length);
    for (const body of [bytes, bytes.buffer, Buffer.from(BODY), view, new DataView(inside.buffer, 3, bytes.length)])
      assert.equal((await verify(headers, { body })).id, ID);
  });

  test('with any brand word, and beside headers of the subscription that look like a signature', async () => {
    for (const brand of ['Service', 'Lombard', 'ACME', 'b2B', 'Signature'])
      assert.equal(
        (await verify(sent({ 'x-tenant-signature': 'abc', 'X-Tenant-Webhook': 'y' }, { brand }))).clientId,
        'CLI000001',
      );
  });

  test('with one of the two signatures', async () => {
    assert.equal(
      (await verify(sent({ 'webhook-id': undefined, 'webhook-timestamp': undefined, 'webhook-signature': undefined })))
        .id,
      ID,
    );
    assert.equal((await verify(sent({ 'X-Service-Signature': undefined }))).id, ID);
  });

  test('of every type', async () => {
    for (const [name, type] of [
      ['TradeStatusChange', 'TRADE_STATUS_CHANGE'],
      ['CreditPaymentReturnedTransaction', 'CREDIT_PAYMENT_RETURNED_TRANSACTION'],
      ['DebitTransaction', 'DEBIT_TRANSACTION'],
      ['OnboardingStatusChange', 'ONBOARDING_STATUS_CHANGE'],
      ['BeneficiaryStatusChange', 'BENEFICIARY_STATUS_CHANGE'],
      ['MassPaymentStatusChange', 'MASS_PAYMENT_STATUS_CHANGE'],
      ['MassBeneficiaryStatusChange', 'MASS_BENEFICIARY_STATUS_CHANGE'],
      ['Ping', 'PING'],
    ])
      assert.equal((await verify(sent({ 'X-Service-Webhook': name }))).type, type);
  });

  test('while a secret is replaced: several Standard Webhooks signatures, several secrets', async () => {
    const timestamp = Math.floor(Date.now() / 1_000);
    const both = `${standardSignature('new', timestamp)} ${standardSignature(SECRET, timestamp)} v1a,xyz`;
    const headers = sent({ 'webhook-timestamp': String(timestamp), 'webhook-signature': both });
    assert.equal((await verify(headers)).id, ID);
    assert.equal((await verify(sent({}, { secret: 'new' }), { secret: ['new', SECRET] })).id, ID);
    assert.equal((await verify(sent(), { secret: ['new', SECRET] })).id, ID);
    await refused(verify(sent(), { secret: ['new', 'newer'] }), /signature/);
    await refused(verify(sent(), { secret: [] }), /signature/);
  });

  test('within the tolerance, before and after', async () => {
    for (const ageSeconds of [290, -290]) assert.equal((await verify(sent({}, { ageSeconds }))).id, ID);
    for (const ageSeconds of [310, -310]) {
      await refused(verify(sent({}, { ageSeconds })), /^header webhook-timestamp: is 3\d\d seconds away/);
      assert.equal((await verify(sent({}, { ageSeconds }), { tolerance: 320 })).id, ID);
    }
    assert.equal((await verify(sent({}, { ageSeconds: 900_000 }), { tolerance: Infinity })).id, ID);
    await refused(verify(sent({}, { ageSeconds: 2 }), { tolerance: 0 }), /seconds away/);
    await refused(verify(sent(), { tolerance: Number.NaN }), /seconds away/);
  });
});

describe('a notification is refused', () => {
  const CASES: [string, Record<string, string | undefined>, RegExp][] = [
    ['no signature', { 'X-Service-Signature': undefined, 'webhook-signature': undefined }, /there is no signature/],
    [
      'the first one wrong, the second right',
      { 'X-Service-Signature': interfaceSignature('other') },
      /^header x-service-signature/,
    ],
    [
      'the first one right, the second wrong',
      { 'webhook-signature': `v1,${'A'.repeat(43)}=` },
      /^header webhook-signature/,
    ],
    ['an empty signature', { 'X-Service-Signature': '' }, /^header x-service-signature/],
    ['an empty Standard Webhooks signature', { 'webhook-signature': '' }, /^header webhook-signature/],
    [
      'a signature in capitals',
      { 'X-Service-Signature': interfaceSignature(SECRET).toUpperCase() },
      /^header x-service-signature/,
    ],
    [
      'a signature over another URL',
      { 'X-Service-Signature': interfaceSignature(SECRET, 'https://hooks.example.com/') },
      /signature/,
    ],
    ['a signature without its prefix', { 'X-Service-Signature': interfaceSignature(SECRET).slice(9) }, /signature/],
    ['another id than was signed', { 'X-Service-Notification-Id': 'another' }, /notification-id/],
    ['another webhook-id', { 'webhook-id': 'another' }, /^header webhook-signature/],
    ['no webhook-id', { 'webhook-id': undefined }, /^header webhook-id/],
    ['no webhook-timestamp', { 'webhook-timestamp': undefined }, /^header webhook-timestamp/],
    ['a webhook-timestamp that is none', { 'webhook-timestamp': 'now' }, /^header webhook-timestamp/],
    ['no type', { 'X-Service-Webhook': undefined }, /^headers: /],
    ['no client', { 'X-Service-Client-Id': undefined }, /^header x-service-client-id/],
    ['two brands', { 'X-Other-Webhook': 'Ping', 'X-Other-Notification-Id': ID }, /^headers: /],
  ];
  for (const [name, headers, details] of CASES) test(name, () => refused(verify(sent(headers)), details));

  test('parsed JSON, nothing, another text, other white space', async () => {
    for (const body of [JSON.parse(BODY), undefined, null, 7])
      await refused(verify(sent(), { body }), /^body: must be the text or the bytes/);
    for (const body of ['', `${BODY} `, JSON.stringify(JSON.parse(BODY)), BODY.replace('CREATED', 'SENT')])
      await refused(verify(sent(), { body }), /signature/);
    await refused(verify(undefined as unknown as Headers), /^headers: /);
    await refused(verify({}), /^headers: /);
  });

  test('a body that is signed and is not JSON', async () => {
    const body = '{"data":';
    const headers = sent({
      'X-Service-Signature': interfaceSignature(SECRET, URL_SIGNED, body),
      'webhook-signature': undefined,
    });
    await refused(verify(headers, { body }), /^body: is not JSON/);
  });

  test('another secret, the empty one, one that is base64 only behind its prefix', async () => {
    for (const secret of ['', 'other', `${SECRET} `]) await refused(verify(sent(), { secret }), /signature/);
    const secret = `whsec_${Buffer.from(SECRET).toString('base64')}`;
    assert.equal((await verify(sent({}, { secret }), { secret })).id, ID);
    await refused(verify(sent({}, { secret }), { secret: SECRET }), /signature/);
  });
});
