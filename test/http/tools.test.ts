import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { REPOSITORY } from '../world/command.ts';
import { call, startTestService } from '../world/service.ts';

const skip = existsSync(join(REPOSITORY, 'tools/node_modules'))
  ? false
  : 'tools/ is not installed: npm ci --prefix tools';

test('linters find nothing in the descriptions, and what generators make of them compiles', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lombard-descriptions-'));
  const service = await startTestService();
  try {
    const listeners = { client: service.api, auth: service.auth, operator: service.operatorUrl };
    for (const [name, address] of Object.entries(listeners))
      writeFileSync(join(folder, `${name}.json`), (await call(`${address}/openapi.json`, 'GET')).text);
    const { stdout } = await promisify(execFile)(process.execPath, [join(REPOSITORY, 'tools/check.mjs'), folder]);
    assert.match(stdout, /no findings/);
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
