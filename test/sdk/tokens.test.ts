import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Lombard, LombardError, type LombardOptions, type TokenSet } from '../../sdk/src/index.ts';
import { answer, cut, type Fault, type FaultServer, startFaultServer } from '../world/faults.ts';
import { until } from '../world/until.ts';

/** The refresh: one at a time, shared, never ended by the abort of a call. */

let api: FaultServer;
let auth: FaultServer;
/** The token that the API accepts. */
let good = 'new-1';
before(async () => {
  api = await startFaultServer();
  auth = await startFaultServer();
});
after(async () => {
  await api.stop();
  await auth.stop();
});

const guarded: Fault = (response, seen) =>
  seen.headers.authorization === `Bearer ${good}`
    ? answer(200, { payment_id: 'PAY1' })(response, seen)
    : answer(401, { code: 'token_expired', message: 'No', details: 'header.Authorization: has expired' })(
        response,
        seen,
      );
const issued = (n: number) =>
  answer(200, { token_type: 'Bearer', access_token: `new-${n}`, refresh_token: `refresh-${n}`, expires_in: 3_600 });
const later =
  (fault: Fault): Fault =>
  (response, seen) =>
    void setTimeout(() => fault(response, seen), 100);

function connect(options: Partial<LombardOptions> = {}) {
  const tokens: TokenSet[] = [];
  const lombard = new Lombard({
    baseUrl: api.url,
    authUrl: auth.url,
    clientId: 'CLI1',
    accessToken: 'old',
    refreshToken: 'refresh-0',
    application: { id: 'app one', secret: 's+crét' },
    onTokens: (set) => tokens.push(set),
    ...options,
  });
  return { lombard, tokens };
}

function reset(...authFaults: Fault[]): void {
  good = 'new-1';
  api.script(guarded);
  auth.script(...authFaults);
}

async function refreshBegins(): Promise<void> {
  await until(() => auth.seen.length > 0);
}

test('after a 401 the token is refreshed once, the call repeated, and the new tokens are told', async () => {
  reset(issued(1));
  const { lombard, tokens } = connect({ retries: 0 });
  const before = Date.now();
  assert.equal((await lombard.payments.get('PAY1')).payment_id, 'PAY1');
  await lombard.payments.authorise('PAY1');
  assert.equal(api.seen.length, 3);
  const [refresh] = auth.seen;
  assert.deepEqual(
    [refresh?.method, refresh?.path, refresh?.body],
    ['POST', '/token', 'grant_type=refresh_token&refresh_token=refresh-0&scope=openid'],
  );
  assert.equal(refresh?.headers.authorization, `Basic ${Buffer.from('app+one:s%2Bcr%C3%A9t').toString('base64')}`);
  assert.equal(tokens.length, 1);
  assert.deepEqual([tokens[0]?.accessToken, tokens[0]?.refreshToken], ['new-1', 'refresh-1']);
  const expires = tokens[0]?.expiresAt.getTime() ?? 0;
  assert.ok(expires >= before + 3_600_000 && expires <= Date.now() + 3_600_000);
  good = 'new-2';
  auth.script(issued(2));
  await lombard.payments.get('PAY1');
  assert.match(auth.seen[0]?.body ?? '', /refresh_token=refresh-1/);
});

test('calls at the same time share one refresh; one that was refused late uses what there is', async () => {
  reset(later(issued(1)));
  const { lombard, tokens } = connect();
  let held: (() => void) | undefined;
  api.script((response, seen) => (held = () => guarded(response, seen)), guarded);
  const late = lombard.payments.get('LATE');
  const answerHeld = await until(() => held);
  await Promise.all(Array.from({ length: 20 }, (_, n) => lombard.payments.get(`PAY${n}`)));
  answerHeld();
  await late;
  assert.equal(auth.seen.length, 1);
  assert.equal(tokens.length, 1);
});

test('a call that begins during a refresh waits for it', async () => {
  reset(later(issued(1)));
  const { lombard } = connect();
  const first = lombard.payments.get('PAY1');
  await refreshBegins();
  await Promise.all([first, lombard.payments.get('PAY2')]);
  assert.deepEqual(
    api.seen.map(({ headers }) => headers.authorization),
    ['Bearer old', 'Bearer new-1', 'Bearer new-1'],
  );
});

test('an abort rejects its own call, and the refresh goes on for the others', async () => {
  reset(later(issued(1)));
  const { lombard, tokens } = connect();
  const controller = new AbortController();
  const aborted = lombard.payments.get('PAY1', { signal: controller.signal });
  const other = lombard.payments.get('PAY2');
  await refreshBegins();
  controller.abort();
  await assert.rejects(aborted, { name: 'AbortError' });
  assert.equal((await other).payment_id, 'PAY1');
  assert.equal(auth.seen.length, 1);

  // Nobody waits for it any more: it goes on, and the next call has its token.
  reset(later(issued(1)));
  const alone = connect();
  const only = new AbortController();
  const call = alone.lombard.payments.get('PAY1', { signal: only.signal });
  await refreshBegins();
  only.abort();
  await assert.rejects(call, { name: 'AbortError' });
  await alone.lombard.payments.get('PAY2');
  assert.equal(auth.seen.length, 1);
  assert.equal(alone.tokens.length, 1);
  assert.equal(tokens.length, 1);
});

test('a token that is refused again is not refreshed again', async () => {
  reset(issued(7));
  const error = await connect()
    .lombard.payments.get('PAY1')
    .catch((caught) => caught);
  assert.deepEqual([error.status, error.code], [401, 'token_expired']);
  assert.deepEqual([api.seen.length, auth.seen.length], [2, 1]);
});

test('where the refresh fails the 401 is told, with its cause; a spent refresh token is not sent again', async () => {
  reset(answer(400, { error: 'invalid_grant', error_description: 'refresh_token: is unknown' }));
  const { lombard, tokens } = connect();
  const results = await Promise.allSettled([lombard.payments.get('PAY1'), lombard.payments.get('PAY2')]);
  for (const result of results) {
    assert.ok(result.status === 'rejected' && result.reason instanceof LombardError);
    assert.deepEqual([result.reason.status, result.reason.code], [401, 'token_expired']);
    const cause = result.reason.cause as LombardError;
    assert.deepEqual([cause.status, cause.code, cause.details], [400, 'invalid_grant', 'refresh_token: is unknown']);
  }
  assert.equal(auth.seen.length, 1);
  await assert.rejects(lombard.payments.get('PAY3'), { status: 401 });
  assert.equal(auth.seen.length, 1);
  assert.equal(tokens.length, 0);
});

test('a refresh is a change: again after 429, never after 5xx or a lost connection; the next call tries again', async () => {
  for (const [fault, code] of [
    [answer(502), 'invalid_response'],
    [cut, 'connection_lost'],
    [answer(200, {}), 'invalid_response'],
  ] as const) {
    reset(fault, issued(1));
    const { lombard } = connect();
    const error = await lombard.payments.get('PAY1').catch((caught) => caught);
    assert.deepEqual([error.code, error.cause.code, auth.seen.length], ['token_expired', code, 1]);
    await lombard.payments.get('PAY1');
  }
  reset(answer(429, { error: 'slow_down' }, { 'retry-after': '0' }), issued(1));
  await connect().lombard.payments.get('PAY1');
  assert.equal(auth.seen.length, 2);
  const hanging: typeof fetch = (input) =>
    String(input).endsWith('/token')
      ? new Promise(() => {})
      : Promise.resolve(Response.json({ code: 'token_expired', message: 'No', details: '' }, { status: 401 }));
  const slow = await connect({ timeout: 50, fetch: hanging })
    .lombard.payments.get('PAY1')
    .catch((caught) => caught);
  assert.deepEqual([slow.code, slow.cause.code], ['token_expired', 'timeout']);
});

test('without an access token the first call refreshes; without a refresh token a 401 is a 401', async () => {
  reset(issued(1));
  const lombard = new Lombard({
    baseUrl: api.url,
    authUrl: auth.url,
    clientId: 'CLI1',
    refreshToken: 'r',
    application: { id: 'public' },
  });
  await lombard.payments.get('PAY1');
  assert.equal(api.seen.length, 1);
  assert.equal(auth.seen[0]?.headers.authorization, undefined);
  assert.match(auth.seen[0]?.body ?? '', /&client_id=public$/);
  reset(issued(1));
  const bare = new Lombard({ baseUrl: api.url, clientId: 'CLI1', accessToken: 'old' });
  await assert.rejects(bare.payments.get('PAY1'), { status: 401, code: 'token_expired' });
  assert.equal(api.seen.length, 1);
  reset(answer(401, { error: 'invalid_client', error_description: 'wrong' }));
  const first = new Lombard({
    baseUrl: api.url,
    authUrl: auth.url,
    clientId: 'CLI1',
    refreshToken: 'r',
    application: { id: 'x', secret: 'y' },
  });
  await assert.rejects(first.payments.get('PAY1'), { status: 401, code: 'invalid_client' });
});

test('the callback is waited for, and may call the API itself', async () => {
  reset(issued(1));
  const order: string[] = [];
  const { lombard } = connect({
    onTokens: async () => {
      await lombard.payments.get('FROM-THE-CALLBACK');
      order.push('stored');
    },
  });
  await lombard.payments.get('PAY1');
  order.push('called');
  assert.deepEqual(order, ['stored', 'called']);
  reset(issued(1));
  const failing = connect({ onTokens: () => Promise.reject(new Error('disk full')) });
  await assert.rejects(failing.lombard.payments.get('PAY1'), { message: 'disk full' });
  await failing.lombard.payments.get('PAY1');
});
