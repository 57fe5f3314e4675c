/**
 * Makes one bundle of `src` and its packages, from which `bin/start.mjs` starts the program while no source differs. `npm ci` runs it
 * (`bin/prepare`); `node bin/bundle.ts` does it again. docs/decisions/0032-the-program-starts-from-a-bundle.md says why.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Plugin, type PluginContext, type RolldownOutput, rolldown } from 'rolldown';
import { BUNDLE, currentBundle, digestOf, lastBundle, PLACE } from './current-bundle.mjs';

type Bundle = import('./current-bundle.mjs').Bundle;
type Source = import('./current-bundle.mjs').Source;

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PACKAGES = join(ROOT, 'node_modules/');
/** What a bundle depends on in addition to the modules in it. */
const MORE_SOURCES = ['package.json', 'bin/bundle.ts'];
/** The folder of the package that a file belongs to. */
const PACKAGE_OF = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+\//;

/**
 * Packages that stay outside: they have native code or read files beside their own, or a process loads them only when it needs them.
 * A package that a module here loads with `late` stays outside by itself.
 */
const OUTSIDE = [
  '@cantoo/pdf-lib',
  '@modelcontextprotocol/sdk',
  '@myriaddreamin/typst-ts-node-compiler',
  '@node-rs/argon2',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace',
  '@peculiar/x509',
  'graphql',
  'libxml2-wasm',
  'openid-client',
  'pg-native',
  'postgraphile',
  'postgraphile-plugin-connection-filter',
  'reflect-metadata',
];
/** What nobody installs: pg looks for it and goes on without. */
const ABSENT = 'pg-native';

/** Makes the bundle, and then takes it into use. */
async function bundle(): Promise<void> {
  // Whatever is made here becomes visible by a change of name, so no program sees half of it.
  const making = join(PLACE, `making-${process.pid}`);
  const modules = new Set<string>();
  // A module whose constants stand where they are used is no part of the output any more.
  function collect(this: PluginContext): void {
    for (const id of this.getModuleIds()) modules.add(id);
  }
  const build = await rolldown({
    input: { main: join(ROOT, 'src/main.ts') },
    platform: 'node',
    resolve: { symlinks: false },
    transform: { target: 'node22' },
    plugins: [leftOutside, placed, { name: 'modules', buildEnd: collect }],
    onLog: (level, log) => {
      // What is imported in both ways is loaded with the rest.
      if (level === 'warn' && log.code !== 'INEFFECTIVE_DYNAMIC_IMPORT') throw new Error(log.message);
    },
  });
  // A name with a hash never gets another content, so the bundle before this one stays whole.
  const names = '[name]-[hash].mjs';
  const output = await build.write({
    dir: making,
    format: 'esm',
    sourcemap: true,
    entryFileNames: names,
    chunkFileNames: names,
    comments: false,
    // V8 keeps the text of a file in twice the memory if one character of it needs that.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
  });
  await build.close();
  shortenMaps(output, making);
  const files = output.output.map(({ fileName }) => fileName);
  mkdirSync(BUNDLE, { recursive: true });
  for (const file of files) renameSync(join(making, file), join(BUNDLE, file));
  const [{ fileName: entry }] = output.output;
  const former = lastBundle();
  const made: Bundle = { entry, files, sources: sourcesOf(modules).map(describe) };
  writeFileSync(join(making, 'bundle.json'), JSON.stringify(made));
  renameSync(join(making, 'bundle.json'), join(PLACE, 'bundle.json'));
  rmSync(making, { recursive: true });
  // A program that runs from the former bundle may still load parts of it.
  const kept = new Set([...files, ...(former?.files ?? [])]);
  for (const file of readdirSync(BUNDLE)) if (!kept.has(file)) rmSync(join(BUNDLE, file));
}

/** Imports of packages that stay outside. They are found from the bundle, so each has to be the one that its importer would find. */
const leftOutside: Plugin = {
  name: 'left outside',
  async resolveId(source, importer) {
    const name = /^(?:@[^/]+\/)?[^./][^/]*/.exec(source)?.[0];
    if (name === undefined || !OUTSIDE.includes(name)) return null;
    const found = name === ABSENT ? undefined : await this.resolve(source, importer, { skipSelf: true });
    if (found !== undefined && !found?.id.startsWith(join(PACKAGES, name, '/')))
      throw new Error(`${importer} has another ${source}: ${found?.id}`);
    return { id: source, external: true };
  },
};

/** Modules go on finding files beside their own. No line moves. */
const placed: Plugin = {
  name: 'placed',
  transform: {
    filter: { code: /\bimport\.meta\.url\b|\b__dirname\b/ },
    handler(code, id) {
      if (!id.startsWith(ROOT)) return null;
      const from = (path: string) => JSON.stringify(relative(BUNDLE, path));
      if (!id.startsWith(PACKAGES))
        return {
          code: code.replaceAll(/\bimport\.meta\.url\b/g, `new URL(${from(id)}, import.meta.url).href`),
          map: null,
        };
      return {
        code: code.replaceAll(/\b__dirname\b/g, `require('lombard:place').place(${from(join(id, '..'))})`),
        map: null,
      };
    },
  },
  resolveId: (source) => (source === 'lombard:place' ? '\0lombard:place' : null),
  load: (id) =>
    id === '\0lombard:place'
      ? `import { fileURLToPath } from 'node:url';
         export const place = (path) => fileURLToPath(new URL(path, import.meta.url));`
      : null,
};

/** The maps say where each line came from; the sources themselves are at hand. */
function shortenMaps({ output }: RolldownOutput, folder: string): void {
  for (const { fileName } of output.filter((file) => file.fileName.endsWith('.map'))) {
    const { version, sources, mappings } = JSON.parse(readFileSync(join(folder, fileName), 'utf8'));
    writeFileSync(join(folder, fileName), JSON.stringify({ version, sources, names: [], mappings }));
  }
}

/**
 * The files of which a change makes the bundle out of date. For a package that is its manifest, which names its version; the lock file says
 * only what `npm ci` would install.
 */
function sourcesOf(modules: Iterable<string>): string[] {
  const own = [...modules].filter((id) => id.startsWith(ROOT));
  const paths = own.map((id) => {
    const folder = PACKAGE_OF.exec(id)?.[0];
    return relative(ROOT, folder === undefined ? id : join(folder, 'package.json'));
  });
  return [...new Set([...MORE_SOURCES, ...paths])].sort();
}

/** A source, as `bin/start.mjs` compares it. */
function describe(path: string): Source {
  const { size, mtimeMs } = statSync(join(ROOT, path));
  return { path, size, mtimeMs, digest: digestOf(path) };
}

// The tests have a bundle made only where the last one is out of date.
if (!process.argv.includes('--if-needed') || currentBundle() === undefined) {
  await bundle();
}
