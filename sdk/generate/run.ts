/**
 * `npm run sdk-types` writes the checked-in types from the descriptions of both interfaces: those of the client API for the SDK and the
 * clients' pages, those of the operator interface for the console. It starts a service for them, and stops it.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { startTestService } from '../../test/world/service.ts';
import { apiTypes, type OpenApi, operatorTypes } from './typescript.ts';

async function description(address: string): Promise<OpenApi> {
  const response = await fetch(`${address}/openapi.json`);
  if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
  return (await response.json()) as OpenApi;
}

const service = await startTestService();
try {
  writeFileSync(new URL('../src/generated/api.ts', import.meta.url), apiTypes(await description(service.api)));
  const pages = new URL('../../pages/data/generated/', import.meta.url);
  mkdirSync(pages, { recursive: true });
  writeFileSync(new URL('operator.ts', pages), operatorTypes(await description(service.operatorUrl)));
} finally {
  await service.stop();
}
