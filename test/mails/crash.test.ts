import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { approvalsWorld } from '../world/approvals.ts';
import { createDatabase } from '../world/database.ts';
import { MailServer } from '../world/mail-server/mail-server.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import { kill, startProcess } from '../world/worker-process.ts';

/** Mails about payments through a mail server of another maker: workers die by SIGKILL, the server is down. */

const dataDir = mkdtempSync(join(tmpdir(), 'lombard-mails-'));
after(() => rmSync(dataDir, { recursive: true, force: true }));

/** A service that only takes requests, and its mail server. */
async function prepare(t: TestContext) {
  const database = await createDatabase();
  const masterKey = Buffer.alloc(32, 7).toString('base64');
  const roles = { LOMBARD_ROLES: 'api,auth,operator', LOMBARD_MASTER_KEY: masterKey };
  const service = await startTestService(roles, database);
  t.after(() => service.stop());
  const server = await MailServer.start();
  t.after(() => server.stop());
  const smtpUrl = `smtp://127.0.0.1:${server.port}`;
  const startWorker = async () => {
    const child = await startProcess('mail-server/statement-worker.ts', [database.url, dataDir, smtpUrl]);
    t.after(() => kill(child));
    return child;
  };
  return { service, server, startWorker };
}

const stateOf = async (service: TestService) =>
  (await service.query('select state, attempts from mails order by id')).rows as { state: string; attempts: number }[];
const messageId = (text: string) => /^message-id: (.*)$/im.exec(text)?.[1];

test('workers die while the mail server takes a mail: each person is told, and told twice by one Message-ID only', async (t) => {
  const { service, server, startWorker } = await prepare(t);
  const names = ['ann', 'bob', 'cat', 'dan', 'eve', 'fay'];
  const world = await approvalsWorld(service, names, { authorisation_workflow: '4-eyes' });
  await world.create();
  // It takes no mail to its end, so that the worker is killed in the middle of four.
  server.misbehave('hang');
  const first = await startWorker();
  await until(async () => (await stateOf(service)).some(({ attempts }) => attempts > 0), {
    what: 'the worker has begun',
  });
  await kill(first);
  server.behave();
  const second = await startWorker();
  await until(() => server.mails().length > 0, { what: 'mails arrive' });
  await kill(second);
  await startWorker();
  await until(
    async () => {
      const states = await stateOf(service);
      return states.length === names.length && states.every(({ state }) => state === 'sent');
    },
    { what: 'everything is sent' },
  );
  const byPerson = Map.groupBy(server.mails(), ({ text }) => /^To: .*?([0-9a-f-]{36}@example\.com)/im.exec(text)?.[1]);
  assert.deepEqual([...byPerson.keys()].sort(), names.map((name) => world.person(name).email).sort());
  for (const [person, mails] of byPerson)
    assert.equal(new Set(mails.map(({ text }) => messageId(text))).size, 1, `${person} was told twice`);
  const text = server.mails()[0]?.text ?? '';
  assert.match(text, /^Content-Type: multipart\/alternative/im);
  assert.match(text, /^Auto-Submitted: auto-generated/im);
});

test('the mail server is down, and comes back: nothing is lost, and what no longer waits is not sent', async (t) => {
  const { service, server, startWorker } = await prepare(t);
  const world = await approvalsWorld(service, ['ann', 'bob'], { authorisation_workflow: '4-eyes' });
  await server.kill();
  const [decided, open] = [await world.create(), await world.create()];
  await startWorker();
  await until(
    async () => {
      const states = await stateOf(service);
      return states.length === 2 && states.every(({ attempts }) => attempts === 1);
    },
    { what: 'an attempt has failed' },
  );
  assert.equal((await world.patch(world.person('bob'), decided, 'authorise')).status, 204);
  await server.resume();
  await service.operator('PUT', '/clock', { advance_seconds: 60 });
  await until(async () => (await stateOf(service)).every(({ state }) => state === 'sent'), { what: 'both are sent' });
  const texts = server.mails().map(({ text }) => text.replaceAll('=\r\n', '').replaceAll('=\n', ''));
  assert.equal(texts.length, 2);
  for (const text of texts) {
    assert.ok(text.includes(open));
    assert.ok(!text.includes(decided));
  }
});

test('the mail server refuses the recipient for good: failed, and the others are told', async (t) => {
  const { service, server, startWorker } = await prepare(t);
  const world = await approvalsWorld(service, ['ann'], { authorisation_workflow: '4-eyes' });
  server.misbehave('spam');
  await world.create();
  await startWorker();
  await until(async () => (await stateOf(service)).some(({ state }) => state === 'failed'), { what: 'it has failed' });
});
