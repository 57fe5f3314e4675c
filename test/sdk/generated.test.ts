import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { apiTypes, type OpenApi, typescript } from '../../sdk/generate/typescript.ts';
import { startTestService } from '../world/service.ts';

test('the checked-in types are those of the client API as it is', async () => {
  const service = await startTestService();
  try {
    const path = 'sdk/src/generated/api.ts';
    const document = (await (await fetch(`${service.api}/openapi.json`)).json()) as OpenApi;
    const checkedIn = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
    assert.ok(checkedIn === apiTypes(document), `${path} is old: run \`npm run sdk-types\``);
  } finally {
    await service.stop();
  }
});

test('named schemas become interfaces, and what refers to them does so by name', () => {
  const payment = { $ref: '#/components/schemas/Payment' };
  const text = typescript({
    components: {
      schemas: {
        Payment: {
          type: 'object',
          description: 'A payment */ of a client',
          required: ['id'],
          properties: {
            id: { type: 'string' },
            'x-note': { type: ['string', 'null'] },
            parts: { type: 'array', items: { anyOf: [payment, { type: 'null' }] } },
          },
        },
        Status: { type: 'string', enum: ["it's", 'done', null] },
        Extra: { allOf: [payment, { type: 'object', additionalProperties: { type: 'integer' } }] },
        Both: { oneOf: [{ const: true }, { type: 'array', items: payment }] },
        Any: {},
      },
      parameters: { Page: { name: 'page', in: 'query', schema: { type: 'integer' } } },
    },
    paths: {
      '/payments/{id}': {
        get: {
          summary: 'Read',
          parameters: [
            { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'client_id', in: 'query', required: true, schema: { type: 'string' } },
            { $ref: '#/components/parameters/Page', name: '', in: '' },
          ],
          responses: { 200: { content: { 'application/json': { schema: payment } } }, 404: {} },
        },
        delete: { responses: { 204: {} } },
      },
      '/stream': { get: { responses: { 200: { content: { 'text/event-stream': {} } } } } },
    },
    webhooks: { Ping: { post: { requestBody: { content: { 'application/json': { schema: {} } } } } } },
  });
  assert.equal(
    text.slice(text.indexOf('\n\n') + 2),
    `/** A payment *\\/ of a client */
export interface Payment {
  id: string;
  'x-note'?: string | null;
  parts?: (Payment | null)[];
}

export type Status = 'it\\'s' | 'done' | null;

export type Extra = (Payment) & ({
  [name: string]: number;
});

export type Both = true | Payment[];

export type Any = unknown;

/** Every operation of the client API, by method and path. */
export interface Operations {
  /** Read */
  'GET /payments/{id}': {
    path: {
      id: string;
    };
    query?: {
      page?: number;
    };
    response: Payment;
  };
  'DELETE /payments/{id}': {
    response: undefined;
  };
}

/** The bodies of the notifications, by the name that X-<Brand>-Webhook has. */
export interface Notifications {
  'Ping': unknown;
}

`,
  );
});
