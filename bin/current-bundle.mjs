// @ts-check
/** Which bundle the program starts from (`bin/bundle.ts`). It takes part in every start, so it is JavaScript, which Node need not strip. */
import { hash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** `bundle.json` names the current bundle, and what it was made of. */
export const PLACE = `${ROOT}node_modules/.cache/lombard/`;
/** The parts of the current bundle and of the one before. */
export const BUNDLE = `${PLACE}bundle/`;

/**
 * A file of this checkout, as it was when it was bundled.
 * @typedef {{ path: string, size: number, mtimeMs: number, digest: string }} Source
 */

/** @typedef {{ entry: string, files: string[], sources: Source[] }} Bundle */

/**
 * The bundle that was made last, whether or not sources have changed since.
 * @returns {Bundle | undefined}
 */
export function lastBundle() {
  try {
    return JSON.parse(readFileSync(`${PLACE}bundle.json`, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * The module to start, if each source is as it was when the bundle was made.
 * @returns {string | undefined}
 */
export function currentBundle() {
  const last = lastBundle();
  if (last === undefined) return undefined;
  const entry = BUNDLE + last.entry;
  // Where node_modules leads into another checkout, the bundle would find that one's migrations and pages.
  const isHere = existsSync(entry) && realpathSync(BUNDLE) === join(realpathSync(ROOT), relative(ROOT, BUNDLE));
  return isHere && last.sources.every(isSame) ? entry : undefined;
}

/**
 * Another time alone says nothing: a copy of the checkout may have its own.
 * @param {Source} source
 */
function isSame({ path, size, mtimeMs, digest }) {
  const found = statSync(ROOT + path, { throwIfNoEntry: false });
  if (found?.size !== size) return false;
  return found.mtimeMs === mtimeMs || digestOf(path) === digest;
}

/** @param {string} path */
export const digestOf = (path) => hash('sha1', readFileSync(ROOT + path));
