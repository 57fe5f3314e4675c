import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { MESSAGES } from '../../values/errors.ts';
import { fieldsOf, namesOf } from '../../values/unknown.ts';
import { STATUS } from '../schemas/problem.ts';
import { nameSchemas } from './components.ts';
import { addHeaders, type DescribedOperation, operationsOf, usedHeaders } from './headers.ts';
import { describeBody, describeOperation, type ImpliedCodes } from './operation.ts';

/** The version of the API's description (service interface, Versioning). */
const API_VERSION = '0.1';
/** Groups of operations: each tag with its description. */
export type Tags = Record<string, string>;
type Json = Record<string, unknown>;

export interface Description {
  title: string;
  description: string;
  /** The address of the document. /docs is the page that shows it. */
  path: string;
  /** The public address. It is known once the listener has its port. */
  url: () => string;
  tags: Tags;
  /** The codes that the listener itself can answer, for each of its routes. */
  implied: ImpliedCodes;
  /** Whether the listener counts requests and reports that in headers. */
  limited: boolean;
  /** Called whenever the document is requested, because addresses are known only once every listener has its port. */
  securitySchemes: () => Json;
  /** Alternatives; an operation needs one of them. */
  security: Record<string, string[]>[];
  /** Parameters of every operation that is not open. */
  parameters?: Json[];
  /** Changes the description of an operation that is not open, beyond its route. */
  amend?: (method: string, operation: DescribedOperation) => void;
  webhooks?: Json;
  /** A script for the page that shows the document. */
  script?: string;
  /** The application with which the page signs its reader in. Without it the reader brings a token. */
  signsInAs?: string | undefined;
}

/** Serves the OpenAPI 3.1 description, which is generated from the schemas that check the requests, and a page that shows it. */
export async function openApi(app: FastifyInstance, context: Context, description: Description): Promise<void> {
  const { title, path, implied } = description;
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title,
        version: API_VERSION,
        description: `${description.description}\n\n${errorTable()}`,
        contact: { name: context.config.institution.name },
        license: { name: 'Unlicensed', identifier: 'LicenseRef-UNLICENSED' },
      },
      webhooks: description.webhooks,
    } as object,
    transform: ({ schema, url, route }) => ({ schema: describeOperation(schema, route, implied), url }),
    transformObject: (result) => complete('openapiObject' in result ? result.openapiObject : {}, description),
  });
  app.get(path, { config: { open: true }, schema: { hide: true } }, async (_request, reply) =>
    reply.send(documentNow(app, description)),
  );
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith('/docs')) route.config = { ...route.config, open: true };
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { deepLinking: true, tryItOutEnabled: true, persistAuthorization: false },
    // The page reads its own copy, `/docs/json`, whatever address it is given.
    transformSpecification: (_document, request) => documentFor(request, documentNow(app, description), description),
    transformSpecificationClone: false,
    ...(description.signsInAs && { initOAuth: signIn(description.signsInAs) }),
    staticCSP: contentSecurityPolicy("'self'"),
    transformStaticCSP: () => contentSecurityPolicy(`'self' ${context.addresses.auth}`),
    theme: {
      title: `${title} - ${context.config.institution.name}`,
      // The page's top bar names its maker, and asks for the address of a document.
      css: [{ filename: 'own.css', content: '.swagger-ui .topbar { display: none }' }],
      ...(description.script && { js: [{ filename: 'own.js', content: description.script }] }),
    },
  });
}

/** With a code and PKCE (RFC 7636), because a page keeps no secret. */
function signIn(clientId: string): { clientId: string; scopes: string[]; usePkceWithAuthorizationCodeGrant: boolean } {
  return { clientId, scopes: ['openid'], usePkceWithAuthorizationCodeGrant: true };
}

/** The policy of the page, which signs in with the authorization server. It works over http too, because nothing in it requires https. */
function contentSecurityPolicy(connect: string): string {
  return [
    "default-src 'self'",
    "base-uri 'self'",
    `connect-src ${connect}`,
    "frame-ancestors 'self'",
    "img-src 'self' data:",
    "object-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
  ].join('; ');
}

/** The document for the page. Opened under another host name, such as that of a proxy, it calls that name: its policy allows no other. */
function documentFor({ host }: FastifyRequest, document: Json, { url }: Description): Json {
  const own = url();
  // Without a public address the document's is relative already.
  if (!URL.canParse(own) || host === new URL(own).host) return document;
  return { ...document, servers: [{ url: '..', description: 'the host name of this page' }] };
}

function documentNow(app: FastifyInstance, { url, securitySchemes }: Description): Json {
  const document: Json = { ...app.swagger() };
  const components = { ...fieldsOf(document.components), securitySchemes: securitySchemes() };
  return { ...document, components, servers: [{ url: url() }] };
}

/** Adds what the routes' schemas do not contain: names, headers, common parameters and tags. */
function complete(document: Json, { limited, tags, security, parameters = [], amend }: Description): Json {
  for (const [, , operation] of operationsOf(document)) describeBody(operation);
  const named = nameSchemas(document);
  const used = new Set<string>();
  for (const [method, , operation] of operationsOf(named)) {
    const open = operation.security?.length === 0;
    addHeaders(operation, limited && !open);
    if (!open && parameters.length > 0) operation.parameters = [...(operation.parameters ?? []), ...parameters];
    if (!open) amend?.(method, operation);
    for (const parameter of operation.parameters ?? []) if (!parameter.required) describeExample(parameter);
    for (const tag of operation.tags ?? []) used.add(tag);
  }
  if ('webhooks' in named) used.add('webhooks');
  const components = { ...fieldsOf(named.components), headers: usedHeaders(named) };
  return { ...named, components, security, tags: [...used].map((name) => ({ name, description: tags[name] })) };
}

/** Moves the example of an optional parameter into its description. Otherwise the page would fill the field with it, and search for it. */
function describeExample(parameter: Json): void {
  const { example, examples, ...rest } = parameter;
  const first = example ?? Object.keys(fieldsOf(examples))[0];
  for (const key of Object.keys(parameter)) delete parameter[key];
  Object.assign(parameter, rest);
  if (first !== undefined) parameter.description = `${String(rest.description ?? 'Example')}, for example \`${first}\``;
}

function errorTable(): string {
  const rows = namesOf(MESSAGES).map((code) => `| \`${code}\` | ${STATUS[code]} | ${MESSAGES[code]} |`);
  return ['Error codes:', '', '| code | status | message |', '|---|---|---|', ...rows].join('\n');
}
