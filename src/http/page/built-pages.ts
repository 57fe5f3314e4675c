import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';

/** What `npm run pages` makes of pages/. */
const FOLDER = new URL('../../../pages/dist/', import.meta.url);

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Encodings in which the build has also written the files, the best first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** A chunk in the build's manifest. */
interface Chunk {
  file: string;
  css?: string[];
  imports?: string[];
}

/** A file as it is sent. */
interface BuiltFile {
  type: string;
  encoding: 'br' | 'gzip' | undefined;
  content: Buffer;
}

/** The files that an application begins with. */
export interface EntryFiles {
  script: string;
  /** Scripts that the first one imports. */
  imported: string[];
  styles: string[];
}

/** The bundles of the pages. They are read once: a new build is served after a restart. */
export class BuiltPages {
  readonly #manifest: Record<string, Chunk>;
  readonly #names: Set<string>;
  readonly #contents = new Map<string, Buffer>();

  /** @throws Error if the folder holds no build */
  constructor(folder: URL = FOLDER) {
    this.#manifest = JSON.parse(readFileSync(new URL('manifest.json', folder), 'utf8'));
    this.#names = new Set(readdirSync(new URL('assets/', folder)));
  }

  /** @param source the entry's path in pages/ */
  entry(source: string): EntryFiles {
    const chunks = new Set<Chunk>();
    const collect = (key: string): void => {
      const chunk = this.#manifest[key];
      if (!chunk || chunks.has(chunk)) return;
      chunks.add(chunk);
      chunk.imports?.forEach(collect);
    };
    collect(source);
    const [first, ...others] = [...chunks];
    if (!first) throw new Error(`the build of the pages has no entry ${source}`);
    return {
      script: first.file,
      imported: others.map(({ file }) => file),
      styles: [...new Set([...chunks].flatMap(({ css = [] }) => css))],
    };
  }

  /**
   * A file of the build, as compressed as the browser takes it.
   * @param accepts the header Accept-Encoding
   * @returns undefined where the build has no such file
   */
  find(name: string, accepts: string | string[] | undefined): BuiltFile | undefined {
    const type = TYPES[extname(name)];
    if (type === undefined || !this.#names.has(name)) return undefined;
    const accepted = acceptedEncodings(accepts);
    const [encoding, ending = ''] =
      ENCODINGS.find(([coding, end]) => accepted.has(coding) && this.#names.has(name + end)) ?? [];
    const content = this.#read(name + ending);
    return content && { type, encoding, content };
  }

  /** Undefined where a build has replaced this one since the start. */
  #read(name: string): Buffer | undefined {
    const known = this.#contents.get(name);
    if (known) return known;
    const file = new URL(`assets/${name}`, FOLDER);
    if (!existsSync(file)) return undefined;
    const content = readFileSync(file);
    this.#contents.set(name, content);
    return content;
  }
}

/** Undefined where nobody has built the pages. */
export function findBuiltPages(): BuiltPages | undefined {
  return existsSync(new URL('manifest.json', FOLDER)) ? new BuiltPages() : undefined;
}

/** The codings of Accept-Encoding that are not refused with `q=0` (RFC 9110, 12.5.3). */
function acceptedEncodings(header: string | string[] | undefined): Set<string> {
  const items = String(header ?? '')
    .toLowerCase()
    .split(',');
  const parts = items.map((item) => item.split(';').map((part) => part.trim()));
  return new Set(parts.filter(([, quality]) => !/^q=0(\.0*)?$/.test(quality ?? '')).map(([coding = '']) => coding));
}
