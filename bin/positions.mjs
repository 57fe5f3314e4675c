// @ts-check
/**
 * Stacks of the bundled program name the sources. A map is read when a stack is written for the first time, so a start does not pay for it;
 * Node's own `--enable-source-maps` reads all maps at the start.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Positions that are remembered, so that an error that comes often is cheap. */
const MAX_POSITIONS = 1_000;
/** A position in the bundle, as stacks write it. */
const POSITION = /(file:\/\/\S+\/\.cache\/lombard\/bundle\/[\w.-]+\.mjs):(\d+):(\d+)/g;

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Uint8Array(128);
for (let value = 0; value < DIGITS.length; value += 1) VALUES[DIGITS.charCodeAt(value)] = value;
const COMMA = 44;
const SEMICOLON = 59;
/** A digit has five bits of a number, and one that says whether more follow. */
const BITS_EACH = 5;
const BITS = 31;
const MORE = 32;
/** Numbers of a segment: a column, and the source with its line and column. All count from 0. */
const WIDTH = 4;

/**
 * A source map. Its segments stand one after the other, and `firstOf` says where each line begins.
 * @typedef {{ sources: string[], segments: Int32Array, firstOf: number[] }} SourceMap
 */

/** @type {Map<string, WeakRef<SourceMap>>} */
const maps = new Map();
/** @type {Map<string, string>} */
const known = new Map();

/** From now on, stacks name sources. */
export function nameSources() {
  const write = Error.prepareStackTrace;
  Error.prepareStackTrace = (error, sites) => {
    const stack = write ? write(error, sites) : [error, ...sites].join('\n    at ');
    try {
      return String(stack).replaceAll(POSITION, sourceOf);
    } catch {
      // Without its map a stack stays as it is.
      return stack;
    }
  };
}

/**
 * The position in a source for one in the bundle.
 * @param {string} position
 * @param {string} file
 * @param {string} line
 * @param {string} column
 */
function sourceOf(position, file, line, column) {
  let source = known.get(position);
  if (source === undefined) {
    source = find(file, Number(line) - 1, Number(column) - 1) ?? position;
    if (known.size >= MAX_POSITIONS) known.clear();
    known.set(position, source);
  }
  return source;
}

/**
 * The last segment of a file's map that begins at or before a position; undefined if there is none.
 * @param {string} file
 * @param {number} line
 * @param {number} column
 */
function find(file, line, column) {
  let map = maps.get(file)?.deref();
  if (map === undefined) {
    map = readMap(file);
    maps.set(file, new WeakRef(map));
  }
  const { sources, segments, firstOf } = map;
  let at = Number(firstOf[line + 1]) - WIDTH;
  while (at >= Number(firstOf[line]) && Number(segments[at]) > column) at -= WIDTH;
  const source = sources[Number(segments[at + 1])];
  if (source === undefined) return undefined;
  return `${new URL(source, file).href}:${Number(segments[at + 2]) + 1}:${Number(segments[at + 3]) + 1}`;
}

/**
 * Reads the map of a file (ECMA-426).
 * @param {string} file
 * @returns {SourceMap}
 */
function readMap(file) {
  const { sources, mappings } = JSON.parse(readFileSync(fileURLToPath(`${file}.map`), 'utf8'));
  // A segment with a source takes four characters and a separator.
  const segments = new Int32Array((Math.floor(mappings.length / (WIDTH + 1)) + 1) * WIDTH);
  const firstOf = [0];
  /** What the numbers of a segment are added to. The fifth is a name. */
  const fields = new Int32Array(WIDTH + 1);
  let end = 0;
  let field = 0;
  let number = 0;
  let shift = 0;
  for (let index = 0; index <= mappings.length; index += 1) {
    const code = index === mappings.length ? SEMICOLON : mappings.charCodeAt(index);
    if (code === COMMA || code === SEMICOLON) {
      if (field >= WIDTH) {
        for (let each = 0; each < WIDTH; each += 1) segments[end + each] = Number(fields[each]);
        end += WIDTH;
      }
      field = 0;
      if (code === SEMICOLON) {
        fields[0] = 0;
        firstOf.push(end);
      }
      continue;
    }
    const digit = Number(VALUES[code]);
    number |= (digit & BITS) << shift;
    shift += BITS_EACH;
    if (digit & MORE) continue;
    fields[field] = Number(fields[field]) + (number & 1 ? -(number >>> 1) : number >>> 1);
    field += 1;
    number = 0;
    shift = 0;
  }
  return { sources, segments, firstOf };
}
