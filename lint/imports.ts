/**
 * The import rules of ARCHITECTURE.md, as allow-lists. A room is a folder of src with everything below it; the longest path counts.
 * Type imports are imports. Cycles are Biome's (noImportCycles), which knows no lists of what is allowed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** What each room may import besides itself. `kernel` is src/*.ts and src/cells/, but for the composition root. */
const ROOMS: Record<string, string[]> = {
  kernel: [],
  certificates: [],
  embedded: ['kernel'],
  audit: ['kernel'],
  keys: ['kernel'],
  telemetry: ['kernel'],
  erasure: ['kernel', 'audit', 'feed', 'identity'],
  quotes: ['kernel'],
  webhooks: ['kernel'],
  accounts: ['kernel', 'payments', 'webhooks'],
  identity: ['kernel', 'certificates', 'webhooks'],
  approvals: ['kernel', 'quotes'],
  payments: ['kernel', 'approvals', 'webhooks'],
  'step-up': ['kernel', 'approvals', 'identity', 'payments'],
  documents: ['kernel'],
  mails: ['kernel', 'identity'],
  statements: ['kernel', 'documents', 'webhooks'],
  operator: ['kernel'],
  feed: ['kernel', 'accounts', 'approvals', 'identity', 'payments', 'statements', 'webhooks'],
  relocation: ['kernel', 'approvals', 'feed', 'payments'],
  imports: ['kernel', 'accounts', 'approvals', 'identity', 'operator', 'payments', 'quotes', 'webhooks'],
  sandbox: [
    ...[
      'kernel',
      'accounts',
      'approvals',
      'documents',
      'embedded',
      'feed',
      'identity',
      'imports',
      'payments',
      'quotes',
      'webhooks',
    ],
  ],
  graphql: ['kernel', 'webhooks'],
  http: ['kernel', 'payments'],
  'http/app': ['kernel', 'accounts', 'http', 'identity', 'payments'],
  'http/console': ['kernel', 'http', 'identity', 'operator', 'payments', 'webhooks'],
  'http/client': [
    ...[
      'kernel',
      'accounts',
      'approvals',
      'documents',
      'feed',
      'graphql',
      'http',
      'http/app',
      'identity',
      'payments',
      'quotes',
    ],
    ...['sandbox', 'statements', 'step-up', 'webhooks'],
  ],
  'http/operator': [
    ...[
      'kernel',
      'accounts',
      'approvals',
      'audit',
      'erasure',
      'feed',
      'http',
      'http/console',
      'identity',
      'imports',
      'operator',
      'payments',
      'quotes',
    ],
    ...['sandbox', 'statements', 'webhooks'],
  ],
  'http/auth': ['kernel', 'http', 'identity'],
  'http/trusted': ['kernel', 'certificates', 'embedded', 'http', 'http/auth', 'http/client', 'identity'],
  cli: [
    ...[
      'kernel',
      'audit',
      'certificates',
      'embedded',
      'feed',
      'http',
      'http/trusted',
      'identity',
      'imports',
      'keys',
      'operator',
      'payments',
      'relocation',
      'root',
    ],
    ...['sandbox', 'webhooks'],
  ],
  root: ['*'],
};

/** Files of src itself that are not the kernel: they may import everything. */
const ROOT = ['main.ts', 'service.ts', 'start-checks.ts', 'workers.ts'];

/** Packages that belong to some rooms only. A scope ends with a slash. */
const PACKAGES: Record<string, string[]> = {
  fastify: ['http', 'http/app', 'http/auth', 'http/client', 'http/console', 'http/operator', 'http/trusted'],
  '@fastify/': ['http'],
  '@modelcontextprotocol/': ['cli'],
  marked: ['http'],
  typebox: ['http', 'http/app', 'http/auth', 'http/client', 'http/console', 'http/operator'],
  postgraphile: ['graphql', 'http/client'],
  graphql: ['graphql', 'http/client', 'sandbox'],
};

/** The client library, through its front door: the command line is a program of the client API like any other. */
const SDK = '../sdk/src/index.ts';

const IMPORT = /^(?:import|export)\b[^;'"`]*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;

function roomOf(path: string): string | undefined {
  if (path.startsWith('cells/')) return 'kernel';
  if (!path.includes('/')) return ROOT.includes(path) ? 'root' : 'kernel';
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) if (ROOMS[folder]) return folder;
  return undefined;
}

/** Why a file of a room may not import something, or undefined where it may. */
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

/** Folders of pages/ and what each imports besides itself: the two applications share everything but each other. */
const PAGES: Record<string, string[]> = {
  texts: [],
  data: [],
  design: ['texts', 'data'],
  frame: ['texts', 'data', 'design'],
  app: ['texts', 'data', 'design', 'frame'],
  console: ['texts', 'data', 'design', 'frame'],
};
/** Scripts that run in browsers too: of the client library, and the table of a payment's moves. Types may be read by all. */
const SHARED_SCRIPTS = ['../sdk/src/decimal.ts', '../src/payments/moves.ts'];

/** Why a file of pages/ may not import something, or undefined where it may. */
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
