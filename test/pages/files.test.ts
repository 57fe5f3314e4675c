import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { pagesOf } from '../../src/http/app/pages.ts';
import { CONSOLE_PAGES } from '../../src/http/console/pages.ts';

test('the build has the module of each page: its document names the files that draw it', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../pages/dist/manifest.json', import.meta.url), 'utf8'));
  const pages = [...pagesOf({ environment: 'sandbox' }), ...Object.entries(CONSOLE_PAGES)];
  assert.ok(pages.length > 20);
  for (const [path, { source }] of pages) assert.ok(manifest[source]?.isDynamicEntry, `${path}: ${source}`);
});
