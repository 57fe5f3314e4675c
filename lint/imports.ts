/**
 * The import rules of ARCHITECTURE.md, as allow-lists. A room is a folder of src with everything below it; the longest path counts. Type
 * imports count as imports. Biome checks for cycles (noImportCycles), but does not support such lists.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Rooms without business knowledge, from the ground up, with what each may import besides itself. `context` and `start-checks` are single files. */
const GROUND = {
  values: [],
  process: ['values'],
  settings: ['values', 'process'],
  certificates: ['values'],
  embedded: ['values', 'process', 'settings'],
  database: ['values', 'process', 'settings'],
  monitoring: ['values', 'process', 'database'],
  context: ['values', 'process', 'settings', 'database', 'monitoring'],
  audit: ['values', 'process', 'settings', 'database', 'context'],
};

/** What every room above the ground may import. */
const GIVEN = ['values', 'process', 'settings', 'database', 'context', 'audit'];

/** The business rooms, with what each may import besides itself and the rooms in GIVEN. */
const BUSINESS = {
  webhooks: [],
  keys: [],
  operator: [],
  identity: ['certificates', 'webhooks'],
  documents: ['identity'],
  mails: ['identity'],
  statements: ['documents', 'mails', 'webhooks'],
  exchange: ['accounts', 'identity', 'webhooks'],
  accounts: ['identity', 'webhooks'],
  beneficiaries: ['identity', 'webhooks'],
  approvals: ['exchange', 'identity'],
  payments: ['accounts', 'approvals', 'beneficiaries', 'exchange', 'identity', 'webhooks'],
  iso20022: [],
  orders: ['accounts', 'approvals', 'beneficiaries', 'exchange', 'identity', 'iso20022', 'payments', 'webhooks'],
  feed: [
    ...['accounts', 'approvals', 'beneficiaries', 'exchange', 'identity', 'orders', 'payments', 'statements'],
    'webhooks',
  ],
  erasure: ['feed', 'identity'],
  relocation: ['approvals', 'feed', 'payments'],
  imports: [...['accounts', 'approvals', 'beneficiaries', 'exchange', 'identity', 'operator', 'payments', 'webhooks']],
};
const DOMAINS = Object.keys(BUSINESS);

/** The rooms where requests enter, with the same meaning. Code shared by listeners comes first. */
const ENTRANCES = {
  'http/schemas': ['beneficiaries', 'exchange', 'identity', 'payments'],
  'http/server': ['http/schemas', 'operator'],
  'http/graphql': ['webhooks'],
  'http/description': ['http/schemas', 'http/server', 'operator'],
  'http/site': [],
  'http/page': ['http/server'],
  'http/app': ['http/page', 'http/schemas', 'http/server', 'accounts', 'exchange', 'identity', 'orders', 'payments'],
  'http/console': [
    ...[
      'beneficiaries',
      'exchange',
      'http/page',
      'http/schemas',
      'http/server',
      'identity',
      'monitoring',
      'operator',
      'orders',
      'payments',
      'webhooks',
    ],
  ],
  'http/auth': ['http/description', 'http/page', 'http/schemas', 'http/server', 'identity', 'monitoring'],
  'http/client': [
    ...['http/app', 'http/description', 'http/graphql', 'http/schemas', 'http/server', 'http/site', 'sandbox'],
    ...DOMAINS,
  ],
  'http/operator': [
    ...['http/console', 'http/description', 'http/schemas', 'http/server', 'http/site', 'monitoring', 'sandbox'],
    ...DOMAINS,
  ],
  'http/trusted': ['certificates', 'embedded', 'http/auth', 'http/client', 'http/schemas', 'http/server', 'identity'],
};

/** What each room may import besides itself. */
const ROOMS: Record<string, string[]> = {
  ...GROUND,
  ...above(BUSINESS),
  sandbox: [...GIVEN, 'embedded', ...DOMAINS],
  ...above(ENTRANCES),
  'start-checks': [...GIVEN, 'beneficiaries', 'documents', 'http/server', 'http/trusted', 'keys'],
  cli: [
    ...GIVEN,
    ...['certificates', 'documents', 'embedded', 'feed', 'http/server', 'http/trusted', 'imports', 'keys', 'mails'],
    ...[
      'monitoring',
      'beneficiaries',
      'operator',
      'orders',
      'payments',
      'relocation',
      'sandbox',
      'start-checks',
      'webhooks',
    ],
  ],
  root: ['*'],
};

function above(rooms: Record<string, string[]>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(rooms).map(([room, others]) => [room, [...GIVEN, ...others]]));
}

/** Packages that only some rooms may use. A scope ends with a slash. */
const PACKAGES: Record<string, string[]> = {
  fastify: Object.keys(ENTRANCES),
  '@fastify/': ['http/server', 'http/schemas', 'http/description'],
  '@modelcontextprotocol/': ['cli'],
  'libxml2-wasm': ['iso20022'],
  marked: ['http/site'],
  typebox: ['values', 'database', ...DOMAINS, ...Object.keys(ENTRANCES)],
  postgraphile: ['http/graphql', 'http/client'],
  graphql: ['http/graphql', 'http/client', 'sandbox'],
};

/** The client library, through its public entry: the command line is a program of the client API like any other. */
const SDK = '../sdk/src/index.ts';

const IMPORT = /^(?:import|export)\b[^;'"`]*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;

function roomOf(path: string): string | undefined {
  if (!path.includes('/')) return ROOMS[path.replace('.ts', '')] ? path.replace('.ts', '') : 'root';
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) if (ROOMS[folder]) return folder;
  return undefined;
}

/** Why a file of a room may not import something; undefined if it may. */
function fault(path: string, room: string, target: string): string | undefined {
  if (!target.startsWith('.')) {
    const owner = Object.keys(PACKAGES).find((name) =>
      name.endsWith('/') ? target.startsWith(name) : target === name || target.startsWith(`${name}/`),
    );
    return owner === undefined || PACKAGES[owner]?.includes(room) ? undefined : `${room} does not import ${owner}`;
  }
  const imported = normalize(join(dirname(path), target));
  if (imported === SDK) return room === 'cli' ? undefined : `${room} does not import the SDK`;
  if (imported.startsWith('..')) return 'src imports only src';
  const other = roomOf(imported);
  if (other === undefined) return `${imported} belongs to no room of lint/imports.ts`;
  const allowed = ROOMS[room] as string[];
  return other === room || allowed.includes(other) || allowed.includes('*')
    ? undefined
    : `${room} imports only ${allowed.join(', ') || 'itself'}`;
}

/** The folders of pages/, with what each may import besides itself. The two applications share everything but each other. */
const PAGES: Record<string, string[]> = {
  texts: [],
  data: [],
  design: ['texts', 'data'],
  frame: ['texts', 'data', 'design'],
  app: ['texts', 'data', 'design', 'frame'],
  console: ['texts', 'data', 'design', 'frame'],
};
/** Scripts that also run in browsers: part of the client library, and the table of a payment's moves. Types may be imported by all. */
const SHARED_SCRIPTS = ['../sdk/src/decimal.ts', '../src/payments/moves.ts'];

/** Why a file of pages/ may not import something; undefined if it may. */
function pageFault(path: string, target: string, isType: boolean): string | undefined {
  if (target.startsWith('node:')) return 'browsers have no Node';
  if (!target.startsWith('.')) return undefined;
  const imported = normalize(join(dirname(path), target));
  if (imported.startsWith('..'))
    return isType || SHARED_SCRIPTS.includes(imported) ? undefined : 'pages import only types from outside';
  const [room = '', other = ''] = [path, imported].map((each) => each.split('/', 1)[0]);
  return room === other || PAGES[room]?.includes(other) ? undefined : `${room} does not import ${other}`;
}

const src = new URL('../src/', import.meta.url);
const faults: string[] = [];
for (const path of readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))) {
  const room = roomOf(path);
  if (room === undefined) {
    faults.push(`src/${path}: its folder is no room of lint/imports.ts`);
    continue;
  }
  for (const found of readFileSync(new URL(path, src), 'utf8').matchAll(IMPORT)) {
    const target = (found[1] ?? found[2] ?? found[3]) as string;
    const reason = fault(path, room, target);
    if (reason) faults.push(`src/${path} imports ${target}: ${reason}`);
  }
}
const pages = new URL('../pages/', import.meta.url);
for (const path of readdirSync(pages, { recursive: true, encoding: 'utf8' })) {
  if (!/^[a-z]+\/.*\.tsx?$/.test(path) || path.startsWith('dist/')) continue;
  for (const found of readFileSync(new URL(path, pages), 'utf8').matchAll(IMPORT)) {
    const target = (found[1] ?? found[2] ?? found[3]) as string;
    const reason = pageFault(path, target, found[0].startsWith('import type'));
    if (reason) faults.push(`pages/${path} imports ${target}: ${reason}`);
  }
}
for (const line of faults) process.stderr.write(`${line}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
