import type { Description, LoggedRequest } from '../../data/sandbox.ts';
import { indented } from '../../design/code-block.tsx';

type Request = Pick<LoggedRequest, 'method' | 'path' | 'request_body'>;

/** Bytes of a body that the log keeps. A body of this size was cut off. */
const KEPT_BYTES = 4_096;
/** The most bytes that one character takes. The log never cuts a character in two. */
const LONGEST_CHARACTER = 4;

/** The variable that the generated code reads the token from. */
const TOKEN = 'ACCESS_TOKEN';

/** The request as a shell command. The token is a variable, and a body that the log cut off becomes a file. */
export function asCurl({ method, path, request_body: body }: Request, baseUrl: string): string {
  const parts = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(baseUrl + path)}`,
    `-H "Authorization: Bearer $${TOKEN}"`,
  ];
  if (body) {
    parts.push(`-H ${quoted(`Content-Type: ${typeOf(body)}`)}`);
    parts.push(isCut(body) ? '--data-binary @body' : `--data-binary ${quoted(body)}`);
  }
  return parts.join(' \\\n  ');
}

/** The request as code that uses the SDK. The SDK adds the client by itself. @returns undefined if no operation has the address */
export function asSdkCode(
  { method, path: address, request_body: body }: Request,
  { baseUrl, clientId, description }: { baseUrl: string; clientId: string; description: Description },
): string | undefined {
  const url = new URL(address, 'http://service');
  const found = operationAt(description, method, url.pathname);
  if (!found) return undefined;
  const query = Object.entries(Object.groupBy([...url.searchParams], ([name]) => name))
    .filter(([name]) => name !== 'client_id')
    .map(([name, given = []]) => {
      const values = given.map(([, value]) => literal(value, found.types.get(name)));
      return `${key(name)}: ${values.length === 1 ? values[0] : `[${values.join(', ')}]`}`;
    });
  const path = Object.entries(found.path).map(([name, value]) => `${name}: ${text(value)}`);
  const given = [
    ...(path.length > 0 ? [`path: { ${path.join(', ')} }`] : []),
    ...(query.length > 0 ? [`query: { ${query.join(', ')} }`] : []),
    ...(body ? [`body: ${bodyOf(body)}`] : []),
  ];
  const input = given.length > 0 ? `, {\n${given.map((each) => `  ${each},\n`).join('')}}` : '';
  return `import { Lombard } from 'lombard-sdk';

const lombard = new Lombard({
  baseUrl: ${text(baseUrl)},
  clientId: ${text(clientId)},
  accessToken: process.env.${TOKEN},
});
const { body } = await lombard.call(${text(`${method} ${found.template}`)}${input});
`;
}

/** The operation of an address. As in the service, a path without parameters wins over one with parameters. */
function operationAt({ paths }: Description, method: string, path: string) {
  const parts = path.split('/');
  const fits = (template: string) => {
    const names = template.split('/');
    return names.length === parts.length && names.every((name, index) => name === parts[index] || name.startsWith('{'));
  };
  const parameters = (template: string) => template.split('{').length;
  const [template] = Object.keys(paths)
    .filter((each) => fits(each) && paths[each]?.[method.toLowerCase()])
    .sort((a, b) => parameters(a) - parameters(b));
  if (template === undefined) return undefined;
  const described = paths[template]?.[method.toLowerCase()]?.parameters ?? [];
  const named = template.split('/').flatMap((name, index) => {
    const value = parts[index] ?? '';
    return name.startsWith('{') ? [[name.slice(1, -1), decodeURIComponent(value)]] : [];
  });
  return {
    template,
    path: Object.fromEntries(named) as Record<string, string>,
    types: new Map(described.map(({ name, schema }) => [name, schema?.type])),
  };
}

/** A query value as a literal of the type that the API description gives it. */
function literal(value: string, type: unknown): string {
  const isNumber = (type === 'integer' || type === 'number') && /^-?\d{1,15}(\.\d+)?$/.test(value);
  return isNumber || (type === 'boolean' && /^(true|false)$/.test(value)) ? value : text(value);
}

function bodyOf(body: string): string {
  if (isCut(body)) return '{ /* it was longer than what is kept */ }';
  return typeOf(body) === 'application/json' ? indented(body).replaceAll('\n', '\n  ') : text(body);
}

/** The content type of a body, judged by how it begins. */
function typeOf(body: string): string {
  const first = body.trimStart()[0] ?? '';
  if ('{['.includes(first)) return 'application/json';
  return first === '<' ? 'application/xml' : 'text/csv';
}

const isCut = (body: string) => new TextEncoder().encode(body).length > KEPT_BYTES - LONGEST_CHARACTER;
const quoted = (argument: string) => `'${argument.replaceAll("'", `'\\''`)}'`;
const text = (value: string) => `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
const key = (name: string) => (/^[A-Za-z_]\w*$/.test(name) ? name : text(name));
