import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const DIST = new URL('./dist/', import.meta.url);
/** Smaller files gain nothing by compression. */
const MIN_COMPRESSED_BYTES = 1_000;

/** A module that at least this many entries and pages use goes into one shared file. */
const COMMON_SHARE = 6;

/** Writes a compressed copy of each file beside it, so that the service compresses nothing. */
const compressed: Plugin = {
  name: 'compressed',
  writeBundle() {
    const assets = new URL('assets/', DIST);
    for (const name of readdirSync(assets)) {
      const content = readFileSync(new URL(name, assets));
      if (!/\.(js|css|svg)$/.test(name) || content.length < MIN_COMPRESSED_BYTES) continue;
      const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
      writeFileSync(new URL(`${name}.br`, assets), brotliCompressSync(content, { params }));
      writeFileSync(new URL(`${name}.gz`, assets), gzipSync(content, { level: 9 }));
    }
  },
};

/** The texts of one application in one language go into one file, and those of both into another. */
function textsOf(id: string): string | null {
  const [, part, language] = /\/texts\/(shared|refusals|app|console)\/(\w\w)\/[^/]+\.json$/.exec(id) ?? [];
  return part === undefined ? null : `${part === 'refusals' ? 'shared' : part}-${language}`;
}

/** `npm run pages`: both applications, served under `/app` and `/console`, so that all addresses in them are relative. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  publicDir: false,
  plugins: [compressed],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    manifest: 'manifest.json',
    // Browsers of the last two years.
    target: ['chrome125', 'firefox128', 'safari18'],
    assetsInlineLimit: 0,
    // All of it is five kilobytes, and a page would wait for each file.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // "use client" means nothing here: everything runs in the browser.
      checks: { moduleLevelDirective: false, pluginTimings: false },
      input: { app: 'app/main.tsx', console: 'console/main.tsx' },
      output: {
        codeSplitting: {
          groups: [
            { name: textsOf, debugName: 'texts' },
            { name: 'common', minShareCount: COMMON_SHARE },
          ],
        },
      },
    },
  },
});
