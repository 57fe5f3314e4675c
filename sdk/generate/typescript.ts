import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** TypeScript types of an OpenAPI 3.1 document: its component schemas by name, and one entry for each operation and webhook. */

export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  description?: string;
  deprecated?: boolean;
}

type Content = Record<string, { schema?: Schema }>;

interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
}

interface Operation {
  summary?: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses?: Record<string, { content?: Content }>;
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema>; parameters?: Record<string, Parameter> };
}

const METHODS = new Set(['get', 'put', 'post', 'patch', 'delete']);

/** A parameter that the SDK sends itself, and no operation takes: whom it acts for is given once, when it is made. */
const SENT = 'client_id';

/** The checked-in types of the client API as they should be for its description: formatted as the repository is. */
export function apiTypes(document: OpenApi): string {
  const input = typescript(document);
  const biome = fileURLToPath(new URL('../../node_modules/.bin/biome', import.meta.url));
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  return execFileSync(biome, ['format', '--stdin-file-path=api.ts'], { cwd, input, encoding: 'utf8' });
}

/**
 * @param document the description of an interface, as `/openapi.json` answers it
 * @returns the text of a module that holds types only: an interface or type for each named schema, `Operations` keyed
 *   `METHOD /path`, and `Notifications` keyed as the notification names its type
 */
export function typescript(document: OpenApi): string {
  const schemas = Object.entries(document.components?.schemas ?? {});
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method, operation]) => METHODS.has(method) && !isStream(operation))
      .map(([method, operation]) => member(`${method.toUpperCase()} ${path}`, entry(operation, document), operation)),
  );
  const notifications = Object.entries(document.webhooks ?? {}).flatMap(([name, item]) =>
    Object.values(item).map((operation) => member(name, type(json(operation.requestBody?.content)), operation)),
  );
  return [
    '// biome-ignore-all lint: made by `npm run sdk-types` from /openapi.json of the client API; do not edit',
    ...schemas.map(([name, schema]) => declaration(name, schema)),
    declared('Operations', 'Every operation of the client API, by method and path.', operations),
    ...(notifications.length > 0
      ? [
          declared(
            'Notifications',
            'The bodies of the notifications, by the name that X-<Brand>-Webhook has.',
            notifications,
          ),
        ]
      : []),
    '',
  ].join('\n\n');
}

function declaration(name: string, schema: Schema): string {
  const text = type(schema);
  const head = comment(schema.description, '');
  return text.startsWith('{\n') ? `${head}export interface ${name} ${text}` : `${head}export type ${name} = ${text};`;
}

function declared(name: string, description: string, members: string[]): string {
  return `/** ${description} */\nexport interface ${name} {\n${members.map((text) => `${indent(text)}\n`).join('')}}`;
}

function member(name: string, text: string, operation: Operation): string {
  return `${comment(operation.summary, '')}'${name}': ${text};`;
}

/** What goes into an operation (`path`, `query`, `body`: those it has) and its `response`, `undefined` where it has no body. */
function entry(operation: Operation, document: OpenApi): string {
  const parameters = (operation.parameters ?? []).map((given) => resolve(given, document));
  const properties: Record<string, Schema> = {};
  const required: string[] = ['response'];
  for (const place of ['path', 'query']) {
    const here = parameters.filter((each) => each.in === place && each.name !== SENT);
    if (here.length === 0) continue;
    properties[place] = {
      type: 'object',
      properties: Object.fromEntries(
        here.map(({ name, schema = {}, description = schema.description }) => [
          name,
          { ...schema, ...(description === undefined ? {} : { description }) },
        ]),
      ),
      required: here.filter((each) => each.required).map((each) => each.name),
      additionalProperties: false,
    };
    if (here.some((each) => each.required)) required.push(place);
  }
  if (operation.requestBody) {
    properties.body = json(operation.requestBody.content) ?? {};
    if (operation.requestBody.required !== false) required.push('body');
  }
  const success = Object.entries(operation.responses ?? {}).filter(([status]) => status.startsWith('2'));
  const bodies = success.map(([, response]) => (response.content ? type(json(response.content)) : 'undefined'));
  const shown = object({ type: 'object', properties, required, additionalProperties: false });
  const response = indent(`response: ${[...new Set(bodies)].join(' | ') || 'undefined'};`);
  return shown === '{}' ? `{\n${response}\n}` : `${shown.slice(0, -1)}${response}\n}`;
}

/** Events that go on are read as a stream, not as an answer. */
function isStream(operation: Operation): boolean {
  return Object.values(operation.responses ?? {}).some((response) => response.content?.['text/event-stream']);
}

function resolve(parameter: Parameter, document: OpenApi): Parameter {
  const name = parameter.$ref?.split('/').at(-1);
  return name === undefined ? parameter : (document.components?.parameters?.[name] ?? parameter);
}

/** The schema of a JSON body; of another content type: text. */
function json(content: Content = {}): Schema | undefined {
  const [key] = Object.keys(content).filter((name) => name.includes('json'));
  return key === undefined ? { type: 'string' } : content[key]?.schema;
}

function type(schema: Schema | undefined): string {
  if (!schema) return 'unknown';
  if (schema.$ref) return schema.$ref.split('/').at(-1) as string;
  if ('const' in schema) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) {
    const open = choices.some((each) => each.type === 'string' && !each.enum && !('const' in each));
    // An open list: the literals stay, for an editor to offer them.
    const known = open && choices.some((each) => each.enum?.every((value) => typeof value === 'string'));
    return [...new Set(choices.map((each) => (known && type(each) === 'string' ? '(string & {})' : type(each))))].join(
      ' | ',
    );
  }
  if (schema.allOf) return schema.allOf.map((each) => `(${type(each)})`).join(' & ');
  if (Array.isArray(schema.type)) return schema.type.map((each) => type({ ...schema, type: each })).join(' | ');
  switch (schema.type) {
    case 'array': {
      const item = type(schema.items);
      return /^\w+$/.test(item) || (item.startsWith('{') && !item.includes('} |')) ? `${item}[]` : `(${item})[]`;
    }
    case 'object':
      return object(schema);
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    default:
      return schema.properties ? object(schema) : 'unknown';
  }
}

function object({ properties = {}, required = [], additionalProperties }: Schema): string {
  const needed = new Set(required);
  const lines = Object.entries(properties).map(([name, schema]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`;
    return indent(`${comment(schema.description, '')}${key}${needed.has(name) ? '' : '?'}: ${type(schema)};`);
  });
  if (typeof additionalProperties === 'object') lines.push(`  [name: string]: ${type(additionalProperties)};`);
  if (lines.length > 0) return `{\n${lines.join('\n')}\n}`;
  return additionalProperties === false ? '{}' : 'Record<string, unknown>';
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replace(/['\\]/g, '\\$&')}'` : JSON.stringify(value);
}

function comment(text: string | undefined, before: string): string {
  return text === undefined ? '' : `${before}/** ${text.replaceAll('*/', '*\\/').replace(/\s*\n\s*/g, ' ')} */\n`;
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
