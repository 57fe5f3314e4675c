import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { approvalsWorld } from '../world/approvals.ts';
import { MailServer } from '../world/mail-server/mail-server.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { createStatementWorld } from '../world/statements.ts';
import { until } from '../world/until.ts';

/** The institution's logo in mails. */

const folder = mkdtempSync(join(tmpdir(), 'lombard-logo-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** What begins as a PNG does: nobody here draws it. */
const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(64, 7)]);
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8"/></svg>');

/** A service whose mails have a logo, and an approver for whom a payment waits. */
async function serviceWith(t: TestContext, logo: Buffer, settings: Record<string, string> = {}): Promise<TestService> {
  const path = join(folder, 'logo');
  writeFileSync(path, logo);
  const service = await startTestService({ LOMBARD_INSTITUTION_LOGO: path, ...settings });
  t.after(() => service.stop());
  const world = await approvalsWorld(service, ['ann'], { authorisation_workflow: '4-eyes' });
  await world.create();
  return service;
}

const kept = async (service: TestService): Promise<{ html: string; attachments: unknown[] }[]> =>
  (await service.operator('GET', '/mailbox')).body;

test('a mail by SMTP brings a small PNG along, which its HTML shows', async (t) => {
  const server = await MailServer.start();
  t.after(() => server.stop());
  const service = await serviceWith(t, PNG, { SMTP_URL: `smtp://127.0.0.1:${server.port}` });
  await until(async () => server.mails().length === 1);
  // A statement has files besides.
  const world = await createStatementWorld(service, ['EUR'], 'Logo');
  await world.ask({ date_from: '2026-07-01', date_to: '2026-07-31', format: 'csv' });
  await world.until('sent');
  const mails = server.mails().map(({ text }) => text.replaceAll('\r\n', '\n'));
  assert.equal(mails.length, 2);
  const [statement = '', waiting = ''] = mails.sort((one) => (/^Subject: Account statement/m.test(one) ? -1 : 1));
  for (const mail of [waiting, statement]) {
    assert.match(mail.replaceAll('=\n', ''), /<img src=3D"cid:(logo@lombard)" alt=3D""/);
    const part = mail.split(/^--.*$/m).find((each) => each.includes('Content-ID: <logo@lombard>')) ?? '';
    assert.match(part, /^Content-Type: image\/png/m);
    assert.match(part, /^Content-Disposition: inline/m);
    assert.deepEqual(Buffer.from(part.split('\n\n')[1] ?? '', 'base64'), PNG);
    assert.match(mail, /multipart\/related/);
  }
  assert.equal(statement.match(/^Content-Disposition: attachment/gm)?.length, 1);
  assert.doesNotMatch(waiting, /Content-Disposition: attachment/);
});

test('a mail of the mailbox has it in its HTML, and no further file', async (t) => {
  const service = await serviceWith(t, PNG);
  await until(async () => (await kept(service)).length === 1);
  const [mail] = await kept(service);
  assert.ok(mail?.html.includes(`<img src="data:image/png;base64,${PNG.toString('base64')}" alt=""`), mail?.html);
  assert.ok(!mail?.html.includes('cid:'), mail?.html);
  assert.deepEqual(mail?.attachments, []);
});

test('an SVG, which mail programs do not show, and a large PNG stay away', async (t) => {
  for (const logo of [SVG, Buffer.concat([PNG, Buffer.alloc(102_400)])]) {
    const service = await serviceWith(t, logo);
    await until(async () => (await kept(service)).length === 1);
    const [mail] = await kept(service);
    assert.ok(!mail?.html.includes('<img'), mail?.html);
  }
});
