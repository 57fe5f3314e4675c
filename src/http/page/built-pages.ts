import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';

/** The output of `npm run pages`. */
const FOLDER = new URL('../../../pages/dist/', import.meta.url);

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Encodings in which the build has also written the files, best first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** A chunk in the build's manifest. */
interface Chunk {
  file: string;
  name?: string;
  imports?: string[];
}

/** A file in the form in which it is sent. */
interface BuiltFile {
  type: string;
  encoding: 'br' | 'gzip' | undefined;
  content: Buffer;
}

/** The files that a page loads first. */
export interface PageFiles {
  script: string;
  /** Scripts that the first script imports, at once or later. */
  imported: string[];
  style: string;
}

/** The manifest's entry for the styles of all pages. */
const STYLE = 'style.css';

/** The bundles of the pages. They are read once, so a new build is served only after a restart. */
export class BuiltPages {
  readonly #manifest: Record<string, Chunk>;
  /** The keys of chunks without a source file of their own, such as the texts of a language. */
  readonly #named: Map<string | undefined, string>;
  readonly #names: Set<string>;
  readonly #contents = new Map<string, Buffer>();

  /** @throws Error if the folder does not contain a build */
  constructor(folder: URL = FOLDER) {
    this.#manifest = JSON.parse(readFileSync(new URL('manifest.json', folder), 'utf8'));
    const chunks = Object.entries(this.#manifest);
    this.#named = new Map(chunks.filter(([key]) => key.startsWith('_')).map(([key, { name }]) => [name, key]));
    this.#names = new Set(readdirSync(new URL('assets/', folder)));
  }

  /** Whether the build has a single style file. A build of an earlier version has its styles in many files. */
  get hasStyles(): boolean {
    return STYLE in this.#manifest;
  }

  /**
   * The files that a page loads first.
   * @param source the path in pages/ of the application's entry
   * @param further what the page needs besides: paths in pages/, and names of chunks
   */
  filesOf(source: string, further: string[] = []): PageFiles {
    const chunks = new Set<Chunk>();
    const collect = (key: string): void => {
      const chunk = this.#manifest[key];
      if (!chunk || chunks.has(chunk)) return;
      chunks.add(chunk);
      chunk.imports?.forEach(collect);
    };
    for (const each of [source, ...further]) collect(this.#named.get(each) ?? each);
    const [first, ...others] = [...chunks];
    const style = this.#manifest[STYLE];
    if (!first || !style) throw new Error(`the build of the pages has no entry ${source}, or no styles`);
    return { script: first.file, imported: others.map(({ file }) => file), style: style.file };
  }

  /**
   * A file of the build, in the best encoding that the browser accepts.
   * @param accepts the header Accept-Encoding
   * @returns undefined if the build has no such file
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

  /** Undefined if another build has replaced this one since the start. */
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

/** Undefined if the pages have not been built, or only in an earlier version. */
export function findBuiltPages(): BuiltPages | undefined {
  const pages = existsSync(new URL('manifest.json', FOLDER)) ? new BuiltPages() : undefined;
  return pages?.hasStyles ? pages : undefined;
}

/** The codings in Accept-Encoding that are not refused with `q=0` (RFC 9110, 12.5.3). */
function acceptedEncodings(header: string | string[] | undefined): Set<string> {
  const items = String(header ?? '')
    .toLowerCase()
    .split(',');
  const parts = items.map((item) => item.split(';').map((part) => part.trim()));
  return new Set(parts.filter(([, quality]) => !/^q=0(\.0*)?$/.test(quality ?? '')).map(([coding = '']) => coding));
}
