import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { approvalsWorld } from '../world/approvals.ts';
import { startTestService, type TestService } from '../world/service.ts';

let service: TestService;
const folder = mkdtempSync(join(tmpdir(), 'lombard-docs-'));
before(async () => {
  service = await startTestService();
});
after(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('the command lines of docs/approvals.md run as they stand', async () => {
  const text = readFileSync(new URL('../../docs/approvals.md', import.meta.url), 'utf8');
  const [variables = '', ...blocks] = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1] as string);
  assert.ok(blocks.length >= 9);
  assert.match(variables, /^op\(\)/m);

  // A fresh database makes CLI000001, CON000001 (the owner) to CON000005, PAY000001 and MP000001: the names of the page.
  const world = await approvalsWorld(service, ['ann', 'bob', 'cat', 'dan'], { authorisation_workflow: '6-eyes' });
  assert.deepEqual(
    [world.clientId, world.person('dan').id, await world.create()],
    ['CLI000001', 'CON000005', 'PAY000001'],
  );
  const { client_id, contact_id, trade_id: _, ...payment } = world.base;
  const multi = await service.operator('POST', '/multipayments', {
    client_id,
    contact_id,
    trades: [{ buy_currency: 'EUR', sell_currency: 'GBP', buy_amount: 100, rate: 1.17 }],
    payments: [{ ...payment, client_id, contact_id, trade: 0 }],
  });
  assert.equal(multi.body.multipayment, 'MP000001');

  const status = `-sS -o "${folder}/answer" -w '%{http_code} '`;
  const script = [
    'set -e',
    `OPERATOR=${service.operatorUrl} OPERATOR_TOKEN=${service.operatorToken} API=${service.api} TOKEN=${world.owner.token}`,
    `show() { curl ${status} -H 'Content-Type: application/json' "$@"; cat "${folder}/answer"; echo; }`,
    'op() { show -H "Authorization: Bearer $OPERATOR_TOKEN" "$@"; }',
    'api() { show -H "Authorization: Bearer $TOKEN" "$@"; }',
    `ID=5b0c1f0e-6a3e-4a5e-9a53-0a3f3a7c1d11`,
    ...blocks,
  ].join('\n');
  // The page leaves the new instruction's identifier to the reader.
  const ready = script.replace(
    `-d '{"client_id": "CLI000001"}'`,
    `-d '{"client_id": "CLI000001", "mass_beneficiary_id": "'$ID'"}'`,
  );
  const { stdout } = await promisify(execFile)('bash', ['-c', ready], { cwd: folder });
  const answers = stdout
    .trim()
    .split('\n')
    .filter((line) => /^\d{3}/.test(line));
  const statuses = answers.map((line) => line.slice(0, 3));
  const calls = blocks.join('\n').match(/^(op|api) /gm)?.length;
  assert.equal(statuses.length, calls);
  // The creator's own approval is the one call that is refused.
  const refused = answers.filter((line) => !/^20[014]/.test(line));
  assert.equal(refused.length, 1, refused.join('\n'));
  assert.match(refused[0] as string, /^409 .*approval_not_allowed/);
  const rehearsed = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  assert.equal(rehearsed.sample_amounts.length, 2);
});
