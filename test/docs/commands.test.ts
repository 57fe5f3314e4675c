import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { MESSAGES } from '../../src/values/errors.ts';
import { inherited } from '../world/command.ts';
import { createDatabase, type TestDatabase } from '../world/database.ts';
import { endWithTests } from '../world/leftovers.ts';
import { freePort } from '../world/ports.ts';
import { type Block, type Page, page, pages, repository, snippetsAfter } from './pages.ts';

/**
 * Runs every `sh` block of README.md and docs, as it stands, from top to bottom, against a service with the demonstration's data, and
 * then the page's snippets for Node and for Python. Only the addresses are replaced, as the service listens on free ports.
 *
 * - A page begins with the variables of docs/sandbox.md (its first block), which every page refers to; in Node and Python too.
 * - Snippets are the `js` and `python` blocks that follow a `sh` block. Those of a page are one program, which must end with 0.
 * - Each curl must be answered 2xx. A call that the page shows being refused says so in a comment: `# 409 approval_not_allowed`.
 * - A block marked `json answer` is what the command above it answers: its members must be in the real answer, with the same types.
 */

const DEFAULTS = {
  'http://127.0.0.1:8080': 'api',
  'http://127.0.0.1:8081': 'auth',
  'https://127.0.0.1:8443': 'trusted',
  'http://127.0.0.1:8090': 'operator',
} as const;
/** The page with the variables that the other pages use. */
const VARIABLES_PAGE = 'docs/sandbox.md';
/** The languages of snippets beside the shell that this machine has: their name in a page, their program, the ending of a file. */
const LANGUAGES = [
  ['js', process.execPath, '.mjs'],
  ['python', 'python3', '.py'],
].filter(([, command = '']) => spawnSync(command, ['--version']).status === 0) as [string, string, string][];
/** The codes that a comment of a command announces. */
const ANNOUNCED = /#.*?\b([345]\d\d)\b/g;

const folder = mkdtempSync(join(tmpdir(), 'lombard-docs-'));
const dataDir = join(folder, 'data');
const log = join(folder, 'log');
let database: TestDatabase;
let service: ChildProcess;
let addresses: Record<string, string>;
let receiverPort: number;
/** What the snippets of a page have printed, by page and language. */
const printedBy = new Map<string, string>();

before(async () => {
  receiverPort = await freePort();
  database = await createDatabase();
  // The reader stands in the checkout: its folders are here, and ./data is the data directory.
  for (const name of ['bin', 'docs', 'examples']) symlinkSync(join(repository, name), join(folder, name));
  mkdirSync(log);
  writeFileSync(join(folder, 'curl'), CURL);
  chmodSync(join(folder, 'curl'), 0o755);
  service = spawn(join(repository, 'bin/lombard'), ['demo'], {
    cwd: folder,
    env: {
      ...inherited(),
      DATABASE_URL: database.url,
      ...{ LOMBARD_API_PORT: '0', LOMBARD_AUTH_PORT: '0', LOMBARD_TRUSTED_PORT: '0', LOMBARD_OPERATOR_PORT: '0' },
      ...{ LOMBARD_API_RATE: '0', LOMBARD_AUTH_RATE: '0' },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithTests(service);
  let printed = '';
  await new Promise<void>((resolve, reject) => {
    service.once('exit', (code) => reject(new Error(`the service ended with ${code}: ${printed}`)));
    service.stdout?.on('data', (chunk) => {
      printed += chunk;
      if (printed.includes('"msg":"ready"')) resolve();
    });
  });
  addresses = JSON.parse(readFileSync(join(dataDir, 'addresses.json'), 'utf8'));
});
after(async () => {
  const ended = once(service, 'exit');
  service.kill('SIGTERM');
  await ended;
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** The real curl; its answer and its status are noted for the block that runs. */
const CURL = `#!/bin/bash
set -o pipefail
PATH=\${PATH#*:}
curl -w '%{stderr}%{http_code} %{method} %{url}\\n' "$@" 2>>"$LOG/statuses" | tee "$LOG/answer"
`;

describe('the commands', () => {
  // The reader's order: first the page with the variables, on data that nobody has changed yet.
  const ordered = pages()
    .filter(({ path }) => path === 'README.md' || path.startsWith('docs/'))
    .sort((a, b) => Number(b.path === VARIABLES_PAGE) - Number(a.path === VARIABLES_PAGE));
  for (const of of ordered) {
    const { path, blocks } = of;
    const commands = blocks.filter(({ language }) => language === 'sh');
    if (commands.length === 0) continue;
    test(path, async () => {
      const run = path === VARIABLES_PAGE ? commands : [...variables('sh'), ...commands];
      const script = run.map((block) => `${block.text}\n${NEXT_BLOCK}`).join('\n');
      rmSync(log, { recursive: true });
      mkdirSync(log);
      const { failed, stdout, stderr } = await execute(
        'bash',
        '-c',
        `set -eu\n${END_WITH_CHILDREN}\nN=0\n${replaced(script)}`,
      );
      const done = existsSync(join(log, 'done'))
        ? readFileSync(join(log, 'done'), 'utf8').trim().split('\n').length
        : 0;
      const at = run[done] ?? run.at(-1);
      assert.ok(!failed, `${path}:${at?.line} failed\n${stdout}\n${stderr}\n${read('statuses')}`);
      for (const [index, block] of run.entries()) {
        const calls = read(`statuses.${index}`).trim().split('\n').filter(Boolean);
        const refused = calls.filter((line) => !line.startsWith('2')).map((line) => line.slice(0, 3));
        const announced = [...block.text.matchAll(ANNOUNCED)].map((match) => match[1]);
        assert.deepEqual(refused, announced, `${path}:${block.line}\n${calls.join('\n')}\n${read(`answer.${index}`)}`);
      }
      for (const [index, block] of commands.entries()) {
        const documented = answerAfter(of, block);
        if (!documented) continue;
        const real = read(`answer.${run.indexOf(block)}`);
        const where = `${path}:${documented.line} (command ${index + 1})`;
        alike(JSON.parse(documented.text), JSON.parse(real), where);
      }
      for (const [language, command, ending] of LANGUAGES) {
        const own = commands.flatMap((block) => snippetsAfter(of, block).filter((next) => next.language === language));
        if (own.length === 0) continue;
        const snippets = path === VARIABLES_PAGE ? own : [...variables(language), ...own];
        const file = join(folder, `snippets${ending}`);
        writeFileSync(file, resolved(replaced(snippets.map(({ text }) => text).join('\n'))));
        const ran = await execute(command, file);
        assert.ok(!ran.failed, `${path} in ${language}\n${ran.stdout}\n${ran.stderr}`);
        printedBy.set(`${path} ${language}`, ran.stdout);
      }
    });
  }
});

test('the snippets read every page of payments, and take every test vector for signed', () => {
  for (const [language] of LANGUAGES) {
    const [, count, total] = /^(\d+) of (\d+)$/m.exec(printedBy.get(`docs/payments.md ${language}`) ?? '') ?? [];
    assert.ok(Number(count) > 200, language);
    assert.equal(count, total, language);
    const signed = printedBy.get(`docs/notifications.md ${language}`)?.trim().split('\n') ?? [];
    assert.equal(signed.length, 12, language);
    for (const line of signed) assert.match(line, /^[A-Z_]+ signed$/, language);
  }
});

test('docs/search.md lists the parameters that GET /payments has', async () => {
  const described = await (await fetch(`${addresses.api}/openapi.json`)).json();
  const names = described.paths['/payments'].get.parameters
    .filter((parameter: { in: string }) => parameter.in === 'query')
    .map((parameter: { name: string }) => parameter.name);
  const section = page('docs/search.md').prose.split('## Parameters')[1]?.split('\n#')[0] ?? '';
  const listed = [...section.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = '']) => cell.match(/\w+(?=`)/g) ?? []);
  assert.deepEqual(listed.toSorted(), names.toSorted());
});

test('docs/operator-interface.md lists every call, its fields and which of them are required', async () => {
  const described = await (await fetch(`${addresses.operator}/openapi.json`)).json();
  const rows = new Map<string, string>();
  for (const [, calls = '', cell = ''] of page('docs/operator-interface.md').prose.matchAll(
    /^\| (`[A-Z]+ \/.*?`) \| (.*)\|$/gm,
  ))
    for (const [call] of calls.matchAll(/[A-Z]+ \/[^`]*/g)) rows.set(call, cell);
  const calls = Object.entries(described.paths as object).flatMap(([path, methods]) =>
    Object.entries(methods as object).map(([method, operation]) => ({
      call: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
  assert.deepEqual([...rows.keys()].toSorted(), calls.map(({ call }) => call).toSorted());
  for (const { call, operation } of calls) {
    const cell = rows.get(call) as string;
    const schema = operation.requestBody?.content?.['application/json']?.schema ?? {};
    const body = schema.$ref ? described.components.schemas[schema.$ref.split('/').at(-1)] : schema;
    const query = (operation.parameters ?? []).filter((parameter: { in: string }) => parameter.in === 'query');
    const bold = [...cell.matchAll(/\*\*(\w+)\*\*/g)].map(([, name]) => name);
    const required: string[] = body.required ?? [];
    assert.deepEqual(bold.toSorted(), required.toSorted(), call);
    // A PATCH of a record takes the fields of its creation.
    const names =
      call.startsWith('PATCH') && cell === rows.get(call.replace('PATCH', 'GET'))
        ? []
        : Object.keys(body.properties ?? {});
    for (const name of [...names, ...query.map((parameter: { name: string }) => parameter.name)])
      if (!/^page(_size)?$/.test(name)) assert.match(cell, new RegExp(`\\b${name}\\b`), `${call}: ${name}`);
  }
});

/** What a page starts in the background ends with the script. */
const END_WITH_CHILDREN = `trap 'kill $(jobs -p) 2>/dev/null || true' EXIT`;
const NEXT_BLOCK = `
for name in statuses answer; do if [ -e "$LOG/$name" ]; then mv "$LOG/$name" "$LOG/$name.$N"; fi; done
N=$((N + 1)); echo $N >>"$LOG/done"`;

/** The first block of the page with the variables, in a language. */
function variables(language: string): Block[] {
  const first = page(VARIABLES_PAGE).blocks.find((block) => block.language === language);
  assert.ok(first);
  return [first];
}

/** The JSON that a page shows as the answer of a command: behind its snippets, where it is marked so. */
function answerAfter(of: Page, block: Block): Block | undefined {
  const next = of.blocks[of.blocks.indexOf(block) + snippetsAfter(of, block).length + 1];
  return next?.marks.includes('answer') ? next : undefined;
}

/** The SDK's import leads to its source. */
function resolved(text: string): string {
  return text.replaceAll("'lombard-sdk'", `'${pathToFileURL(join(repository, 'sdk/src/index.ts')).href}'`);
}

/** The script with the addresses that are really served, and a free port for the receiver of the webhooks. */
function replaced(script: string): string {
  let text = script;
  for (const [written, name] of Object.entries(DEFAULTS)) text = text.replaceAll(written, addresses[name] as string);
  return text.replace(/(PORT=|127\.0\.0\.1:)9000\b/g, `$1${receiverPort}`);
}

function read(name: string): string {
  const path = join(log, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

async function execute(
  command: string,
  ...args: string[]
): Promise<{ failed: boolean; stdout: string; stderr: string }> {
  const env = { ...inherited(), PATH: `${folder}:${process.env.PATH}`, LOG: log, HOME: folder };
  try {
    const output = await promisify(execFile)(command, args, {
      cwd: folder,
      env,
      timeout: 60_000,
      maxBuffer: 2 ** 26,
    });
    return { ...output, failed: false };
  } catch (error) {
    return { ...(error as { stdout: string; stderr: string }), failed: true };
  }
}

/** What is documented must be in the real answer: the same members and types, and the code of an error. */
function alike(documented: unknown, real: unknown, where: string): void {
  if (documented === null || real === null) return;
  if (Array.isArray(documented)) {
    assert.ok(Array.isArray(real), `${where}: the answer has no list here`);
    if (documented.length > 0) assert.ok(real.length > 0, `${where}: the real list is empty`);
    for (const item of documented) alike(item, real[0], `${where}[0]`);
    return;
  }
  assert.equal(typeof real, typeof documented, `${where}: ${JSON.stringify(real)}`);
  if (typeof documented !== 'object') return;
  for (const [name, value] of Object.entries(documented as object)) {
    const member: unknown = (real as Record<string, unknown>)[name];
    assert.notEqual(member, undefined, `${where}.${name} is not in the answer: ${JSON.stringify(real)}`);
    if (name === 'code' && String(value) in MESSAGES) assert.equal(member, value, `${where}.${name}`);
    alike(value, member, `${where}.${name}`);
  }
}
