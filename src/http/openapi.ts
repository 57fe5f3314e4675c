import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { MESSAGES } from '../errors.ts';
import { STATUS } from './problem.ts';

/** Version of the API's description (the service interface, Versioning). */
const API_VERSION = '0.1';

export interface Description {
  title: string;
  description: string;
  /** The address of the document; /docs is the page that shows it. */
  path: string;
  /** The public address, once the listener has its port. */
  url: () => string;
}

/** Serves the OpenAPI 3.1 description, generated from the schemas that check the requests, and a page that shows it. */
export async function openApi(app: FastifyInstance, context: Context, description: Description): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: description.title,
        version: API_VERSION,
        description: `${description.description}\n\n${errorTable()}`,
      },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'An access token' },
        },
      },
      security: [{ bearer: [] }],
    },
  });
  app.get(description.path, { config: { open: true }, schema: { hide: true } }, async (_request, reply) =>
    reply.send({ ...app.swagger(), servers: [{ url: description.url() }] }),
  );
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith('/docs')) route.config = { ...route.config, open: true };
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { url: description.path, deepLinking: true },
    staticCSP: true,
    theme: { title: `${description.title} - ${context.config.institution.name}` },
  });
}

function errorTable(): string {
  const rows = Object.entries(MESSAGES).map(
    ([code, message]) => `| \`${code}\` | ${STATUS[code as keyof typeof STATUS]} | ${message} |`,
  );
  return ['Error codes:', '', '| code | status | message |', '|---|---|---|', ...rows].join('\n');
}
