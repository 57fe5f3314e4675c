/**
 * `npm run sdk-types` writes the checked-in types of the SDK, which the clients' pages use too, from the description of the client API. It
 * starts a service for that, and stops it.
 */
import { writeFileSync } from 'node:fs';
import { startTestService } from '../../test/world/service.ts';
import { apiTypes, type OpenApi } from './typescript.ts';

const service = await startTestService();
try {
  const response = await fetch(`${service.api}/openapi.json`);
  if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
  writeFileSync(new URL('../src/generated/api.ts', import.meta.url), apiTypes((await response.json()) as OpenApi));
} finally {
  await service.stop();
}
