import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { MailServer } from '../world/mail-server/mail-server.ts';
import { listening } from '../world/ports.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { createStatementWorld, type Statement, type StatementWorld } from '../world/statements.ts';
import { until } from '../world/until.ts';

/** Statements by mail, to a mail server of another maker. */

const LOGIN = 'lombard:p%40ss%2Fword@';

async function serviceWith(t: TestContext, smtpUrl: string): Promise<{ service: TestService; world: StatementWorld }> {
  const service = await startTestService({
    SMTP_URL: smtpUrl,
    LOMBARD_MAIL_FROM: '"Bank, Zürich" <bank@bank.example>',
  });
  t.after(() => service.stop());
  const world = await createStatementWorld(service, ['EUR', 'GBP'], 'Zoë & Söhne');
  await world.book('EUR', 'CREDIT_TRANSACTION', '10.50', {
    transaction_information: 'für Zoë',
    booking_datetime: '2026-07-05T10:00:00Z',
  });
  return { service, world };
}

async function serverWith(t: TestContext, options: Parameters<typeof MailServer.start>[0] = {}): Promise<MailServer> {
  const server = await MailServer.start(options);
  t.after(() => server.stop());
  return server;
}

/** As CSV: what is sent is not looked at here, and a PDF takes a hundred times as long. */
const period = { date_from: '2026-07-01', date_to: '2026-07-31', format: 'csv' };

/** Asks for a statement and waits for the first attempt's end. */
async function ask(world: StatementWorld, body: object = {}): Promise<Statement> {
  assert.equal((await world.ask({ ...period, ...body })).status, 202);
  return world.until('sent', 'failed', 'retrying');
}

/** Moves the clock over the wait, and waits for the next attempt's end. */
async function goOn(service: TestService, world: StatementWorld, seconds = 90): Promise<Statement> {
  const [before] = await world.list();
  const attempts = before?.deliveries[0]?.attempts ?? 0;
  await service.operator('PUT', '/clock', { advance_seconds: seconds });
  return until(
    async () => {
      const now = await world.until('sent', 'failed', 'retrying');
      return (now.deliveries[0]?.attempts ?? 0) > attempts && now;
    },
    { what: 'a further attempt' },
  );
}

/** Header fields, and the parts of the body decoded. */
function read(mail: string) {
  const [head = ''] = mail.split(/\r?\n\r?\n/);
  const header = (name: string) =>
    new RegExp(`^${name}: (.*(?:\\r?\\n[ \\t].*)*)`, 'im').exec(head)?.[1]?.replace(/\r?\n[ \t]+/g, ' ');
  const attachments = [...mail.matchAll(/filename="?([^"\r\n;]+)"?[\s\S]*?\r?\n\r?\n([A-Za-z0-9+/=\r\n]+)/g)].map(
    (match) => ({
      filename: match[1] as string,
      content: Buffer.from(match[2] as string, 'base64').toString(),
    }),
  );
  return { header, attachments };
}

for (const [name, options, login, query] of [
  ['without TLS', {}, '', false],
  ['with STARTTLS', { tls: true }, '', true],
  ['with TLS from the start', { secure: true }, '', true],
  ['with STARTTLS and a login', { tls: true, login: true }, LOGIN, true],
  ['with a login, without TLS', { login: true }, LOGIN, false],
] as const) {
  test(`a mail server ${name}`, async (t) => {
    const server = await serverWith(t, options);
    // The certificate is checked: it is the only one that is trusted.
    const trust = query ? `?tls.ca=${encodeURIComponent(readFileSync(server.certificate, 'utf8'))}` : '';
    const scheme = 'secure' in options ? 'smtps' : 'smtp';
    const { service, world } = await serviceWith(t, `${scheme}://${login}127.0.0.1:${server.port}${trust}`);
    const sent = await ask(world);
    assert.equal(sent.status, 'sent', JSON.stringify(sent));
    const mails = server.mails();
    assert.equal(mails.length, 1);
    const mail = mails[0]!;
    assert.equal(mail.tls, query);
    assert.equal(mail.user, login ? 'lombard' : null);
    const { header, attachments } = read(mail.text);
    assert.equal(header('Message-ID'), `<statement-${sent.statement_id}@bank.example>`);
    assert.match(header('From') ?? '', /<bank@bank\.example>$/);
    assert.ok((header('To') ?? '').includes(world.email));
    assert.equal(header('Auto-Submitted'), 'auto-generated');
    assert.match(header('Content-Type') ?? '', /^multipart\/mixed/);
    assert.ok(mail.text.includes('text/plain') && mail.text.includes('text/html'));
    assert.deepEqual(
      attachments.map(({ filename }) => filename),
      ['EUR', 'GBP'].map((currency) => `statement_${world.clientId}_2026-07-01_2026-07-31_${currency}.csv`),
    );
    assert.ok(attachments[0]?.content.includes('für Zoë'), attachments[0]?.content);
    assert.equal((await service.operator('GET', '/mailbox')).body.length, 0, 'no copy is kept');
  });
}

test('a certificate that nobody vouches for, and a wrong password: nothing is sent, it is tried again', async (t) => {
  const server = await serverWith(t, { tls: true, login: true });
  for (const [url, reason] of [
    [`smtp://${LOGIN}127.0.0.1:${server.port}`, /self-signed certificate/],
    [`smtp://lombard:wrong-secret@127.0.0.1:${server.port}?tls.rejectUnauthorized=false`, /EAUTH.*535/],
  ] as const) {
    const { world } = await serviceWith(t, url);
    const state = await ask(world);
    assert.equal(state.status, 'retrying');
    assert.match(state.deliveries[0]?.last_error ?? '', reason);
    assert.ok(!JSON.stringify(state).includes('secret'), 'no password in what the operator sees');
  }
  assert.deepEqual(server.mails(), []);
});

test('4xx is tried again until it is taken; 5xx to the recipient or the content is final', async (t) => {
  const server = await serverWith(t);
  const { service, world } = await serviceWith(t, `smtp://127.0.0.1:${server.port}`);
  server.misbehave('busy');
  const waiting = await ask(world);
  assert.equal(waiting.status, 'retrying');
  assert.match(waiting.deliveries[0]?.last_error ?? '', /450 mailbox is busy/);
  assert.equal((await goOn(service, world)).status, 'retrying');
  server.behave();
  assert.equal((await goOn(service, world)).status, 'sent');
  assert.equal(server.mails().length, 1);
  assert.equal((await world.list())[0]?.deliveries[0]?.attempts, 3);
  server.misbehave('spam');
  const refused = await ask(world);
  assert.equal(refused.status, 'failed');
  assert.match(refused.deliveries[0]?.last_error ?? '', /550 content is refused/);
  server.behave();
  await service.operator('PATCH', `/contacts/${world.contactId}`, { email: `unknown-${world.email}` });
  const unknown = await ask(world);
  assert.equal(unknown.status, 'failed');
  assert.match(unknown.deliveries[0]?.last_error ?? '', /550 no such user/);
  assert.equal(server.mails().length, 1);
});

test('a server that is down is tried for a day, then the request has failed; one that comes back gets one mail', async (t) => {
  const server = await serverWith(t);
  await server.kill();
  const { service, world } = await serviceWith(t, `smtp://127.0.0.1:${server.port}`);
  let state = await ask(world);
  assert.match(state.deliveries[0]?.last_error ?? '', /ECONNREFUSED/);
  const first = Date.parse(state.deliveries[0]?.next_attempt_at ?? '');
  const asked = (await service.query('select created_at from statement_requests')).rows[0].created_at.getTime();
  assert.ok(first - asked > 26_000 && first - asked < 40_000, 'half a minute after the first attempt');
  let attempts = 1;
  // The token expired long ago: the request is the service's own.
  while (state.status === 'retrying') {
    state = await goOn(service, world, 21_600);
    attempts += 1;
    assert.ok(attempts < 10);
  }
  assert.deepEqual(
    [state.status, state.deliveries[0]?.attempts, state.deliveries[0]?.next_attempt_at],
    ['failed', attempts, null],
  );
  assert.equal(attempts, 5, 'at 0, 6, 12, 18 and 24 hours');
  await service.operator('DELETE', '/clock');
  assert.equal((await ask(world)).status, 'retrying');
  await server.resume();
  assert.equal((await goOn(service, world, 60)).status, 'sent');
  assert.equal(server.mails().length, 1);
});

test('a server that dies in the middle of a mail: the next attempt sends it, once', async (t) => {
  const server = await serverWith(t);
  const { service, world } = await serviceWith(t, `smtp://127.0.0.1:${server.port}`);
  await service.query(
    `insert into transactions (client_id, currency_account_id, transaction_id, kind, amount, currency, balance_after, booking_datetime, value_datetime,
       transaction_information, created_at)
     select $1, $2, 'L' || n, 'CREDIT_TRANSACTION', 1, 'EUR', 10.50 + n, '2026-07-06T00:00:00Z', '2026-07-06T00:00:00Z', repeat('x', 400), now()
     from generate_series(1, 5000) n`,
    [world.clientId, world.accounts.get('EUR')],
  );
  server.misbehave('die');
  const broken = await ask(world);
  assert.equal(broken.status, 'retrying', JSON.stringify(broken));
  await until(() => server.dead, { what: 'it died' });
  assert.deepEqual(server.mails(), []);
  await server.resume();
  const sent = await goOn(service, world, 60);
  assert.equal(sent.status, 'sent', JSON.stringify(sent));
  const mails = server.mails();
  assert.equal(mails.length, 1);
  const [eur] = read(mails[0]!.text).attachments;
  assert.ok((eur?.content.length ?? 0) > 2_200_000, 'the whole file');
  assert.match(eur?.content ?? '', /closing_balance,2026-07-31,,,5010\.50,/);
});

test('the window that SMTP leaves open: a mail that was taken unanswered comes again under the same Message-ID', async (t) => {
  const server = await serverWith(t);
  const { service, world } = await serviceWith(t, `smtp://127.0.0.1:${server.port}`);
  server.misbehave('forget');
  assert.equal((await ask(world)).status, 'retrying');
  server.behave();
  await server.resume();
  assert.equal((await goOn(service, world, 60)).status, 'sent');
  const ids = server.mails().map(({ text }) => read(text).header('Message-ID'));
  assert.equal(ids.length, 2);
  assert.equal(ids[0], ids[1]);
});

test('a server that hangs holds up nothing else, and not the end of the service', async (t) => {
  // Accepts connections and never says a word.
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  const port = await listening(silent);
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const { service, world } = await serviceWith(t, `smtp://127.0.0.1:${port}`);
  await world.ask(period);
  await world.until('making');
  const started = performance.now();
  assert.equal((await service.client(world.token, 'GET', `/payments?client_id=${world.clientId}`)).status, 200);
  assert.equal((await world.list())[0]?.status, 'making', 'answered while the mail server hangs');
  const state = await world.until('retrying');
  assert.match(state.deliveries[0]?.last_error ?? '', /ETIMEDOUT.*[Gg]reeting/);
  assert.ok(performance.now() - started < 30_000, 'soon after the time of a greeting');

  const server = await serverWith(t);
  server.misbehave('hang');
  const hanging = await serviceWith(t, `smtp://127.0.0.1:${server.port}`);
  await hanging.world.ask(period);
  await until(() => server.hanging);
  const stopping = performance.now();
  await hanging.service.service.stop();
  hanging.service.service.stop = async () => undefined;
  const took = performance.now() - stopping;
  assert.ok(took < 20_000, `stopped after ${Math.round(took)} ms`);
  const { rows } = await hanging.service.query('select status, last_error from statement_deliveries');
  assert.equal(rows[0].status, 'retrying', 'the next start goes on at once');
});
