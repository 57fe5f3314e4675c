import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createDatabase } from '../world/database.ts';
import { MailServer } from '../world/mail-server/mail-server.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { createStatementWorld, type KeptMail, type StatementWorld } from '../world/statements.ts';
import { until } from '../world/until.ts';
import { kill, startProcess } from '../world/worker-process.ts';

/** Workers die by SIGKILL at random moments: every request still leads to one mail. */

const dataDir = mkdtempSync(join(tmpdir(), 'lombard-crash-'));
after(() => rmSync(dataDir, { recursive: true, force: true }));

async function startWorker(t: TestContext, url: string, smtpUrl?: string): Promise<ChildProcess> {
  const child = await startProcess('mail-server/statement-worker.ts', [url, dataDir, ...(smtpUrl ? [smtpUrl] : [])]);
  t.after(() => kill(child));
  return child;
}

/** A service that only takes requests, on a database that workers of other processes share. */
async function prepare(t: TestContext): Promise<{ service: TestService; url: string; worlds: StatementWorld[] }> {
  const database = await createDatabase();
  const service = await startTestService(
    { LOMBARD_ROLES: 'api,auth,operator', LOMBARD_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') },
    database,
  );
  t.after(() => service.stop());
  const worlds = [];
  for (let index = 0; index < 4; index += 1) {
    const world = await createStatementWorld(service, ['EUR', 'GBP'], `Client ${index}`);
    await world.book('EUR', 'CREDIT_TRANSACTION', '10.50', { booking_datetime: '2026-07-05T10:00:00Z' });
    worlds.push(world);
  }
  return { service, url: database.url, worlds };
}

const REQUESTS = 24;
const MIN_KILLS = 4;
/** How long workers are killed, and how long the last one has. */
const KILLING_MS = 5_000;
const LAST_WORKER_SECONDS = 60;

async function askAll(worlds: StatementWorld[]): Promise<void> {
  for (let count = 0; count < REQUESTS; count += 1) {
    const format = ['pdf', 'csv', 'camt.053'][count % 3];
    const answer = await worlds[count % worlds.length]!.ask({ date_from: '2026-07-01', date_to: '2026-07-31', format });
    assert.equal(answer.status, 202);
  }
}

/** Kills worker after worker, each soon after it has begun, while another one starts; then one may finish. */
async function killUntilDone(
  t: TestContext,
  service: TestService,
  start: () => Promise<ChildProcess>,
): Promise<number> {
  const left = async () =>
    (await service.query("select count(*)::int as left from statement_deliveries where status <> 'sent'")).rows[0].left;
  const killing = performance.now() + KILLING_MS;
  let kills = 0;
  while ((await left()) > 0 && (kills < MIN_KILLS || performance.now() < killing)) {
    const [one, other] = await Promise.all([start(), start()]);
    await pause(randomInt(100));
    await kill(one);
    await pause(randomInt(200));
    await kill(other);
    kills += 2;
  }
  const last = await start();
  await until(async () => (await left()) === 0, { seconds: LAST_WORKER_SECONDS, seen: left });
  await kill(last);
  t.diagnostic(`${kills} kills`);
  return kills;
}

test('kill -9, mails into the mailbox: one for each request, never two, none lost', async (t) => {
  const { service, url, worlds } = await prepare(t);
  await askAll(worlds);
  assert.ok((await killUntilDone(t, service, () => startWorker(t, url))) >= MIN_KILLS);
  const { rows } = await service.query('select statement_id from statement_requests');
  const mails = (await service.operator('GET', '/mailbox')).body as KeptMail[];
  assert.equal(rows.length, REQUESTS);
  assert.deepEqual(
    mails.map((mail) => mail.message_id).sort(),
    rows.map((row) => `<statement-${row.statement_id}@localhost>`).sort(),
  );
});

test('kill -9, mails over SMTP: one for each request, but for kills between acceptance and its record', async (t) => {
  const server = await MailServer.start();
  t.after(() => server.stop());
  const { service, url, worlds } = await prepare(t);
  await askAll(worlds);
  const kills = await killUntilDone(t, service, () => startWorker(t, url, `smtp://127.0.0.1:${server.port}`));
  const { rows } = await service.query(
    'select statement_id, d.attempts from statement_requests join statement_deliveries d using (statement_id)',
  );
  const counts = new Map<string, number>();
  for (const { text } of server.mails()) {
    const id = /^Message-ID: <statement-([0-9a-f-]+)@/im.exec(text)?.[1] ?? '';
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  assert.deepEqual([...counts.keys()].sort(), rows.map((row) => row.statement_id as string).sort());
  for (const { statement_id: id, attempts } of rows) {
    assert.ok((counts.get(id) ?? 0) <= attempts);
    if (attempts === 1) assert.equal(counts.get(id), 1, 'an attempt that was not killed sends one mail');
  }
  const twice = [...counts.values()].filter((count) => count > 1).length;
  // At most one for each mail that a killed process may have had in the window: four connections.
  assert.ok(twice <= kills * 4);
  t.diagnostic(
    `${twice} of ${REQUESTS} mails came twice, ${rows.filter((row) => row.attempts > 1).length} attempts were taken over`,
  );
});
