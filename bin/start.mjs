/**
 * Runs the program: its bundle if each source is as it was when `npm ci` made it, else the sources. A checkout that somebody edits needs no
 * step before it runs.
 */
import { currentBundle } from './current-bundle.mjs';

const bundle = currentBundle();
if (bundle !== undefined) (await import('./positions.mjs')).nameSources();
await import(bundle ?? '../src/main.ts');
