/**
 * Writes src/generated/api.ts from the client API's description: `npm run sdk-types` starts a service for it (and stops it),
 * `npm run sdk-types -- http://127.0.0.1:8080` asks one that runs.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startTestService } from '../../test/world/service.ts';
import { apiTypes, type OpenApi } from './typescript.ts';

const target = fileURLToPath(new URL('../src/generated/api.ts', import.meta.url));
const [address] = process.argv.slice(2);

const service = address === undefined ? await startTestService() : undefined;
try {
  const response = await fetch(`${address ?? service?.api}/openapi.json`);
  if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
  writeFileSync(target, apiTypes((await response.json()) as OpenApi));
} finally {
  await service?.stop();
}
