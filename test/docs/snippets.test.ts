import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { accessToken } from '../world/access-token.ts';
import { createWorld } from '../world/client.ts';
import { REPOSITORY } from '../world/command.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { page } from './pages.ts';

/** The loops of docs/payments.md in Node and Python run against the service; those in curl run in commands.test.ts. */

const PAYMENTS = 7;
let service: TestService;
let env: Record<string, string>;
const folder = mkdtempSync(join(tmpdir(), 'lombard-snippets-'));
before(async () => {
  service = await startTestService();
  const world = await createWorld(service);
  for (let made = 0; made < PAYMENTS; made += 1) await world.pay({ amount: '123456789012345678.12' });
  const token = await accessToken(service, world.contactId);
  env = { PATH: process.env.PATH ?? '', API: service.api, CLIENT_ID: world.clientId, TOKEN: token };
});
after(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The snippet of a language, with pages of two payments, so that there are several. */
function snippet(language: string): string {
  const text = page('docs/payments.md').blocks.find((block) => block.language === language)?.text ?? '';
  assert.match(text, /page_size/);
  return text.replace(/page_size(:|=) ?100/, 'page_size$12');
}

async function printed(command: string, name: string, text: string): Promise<string> {
  const file = join(folder, name);
  writeFileSync(file, text);
  return (await promisify(execFile)(command, [file], { env })).stdout.trim();
}

test('Node, with the SDK', async () => {
  const sdk = pathToFileURL(join(REPOSITORY, 'sdk/src/index.ts')).href;
  const text = snippet('js').replace("'lombard-sdk'", `'${sdk}'`);
  assert.equal(await printed(process.execPath, 'snippet.mjs', text), String(PAYMENTS));
});

const noPython = spawnSync('python3', ['--version']).status !== 0;
test('Python, with its standard library', { skip: noPython && 'python3 is not installed' }, async () => {
  assert.equal(await printed('python3', 'snippet.py', snippet('python')), String(PAYMENTS));
});
