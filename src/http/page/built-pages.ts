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
  name?: string;
  imports?: string[];
}

/** A file as it is sent. */
interface BuiltFile {
  type: string;
  encoding: 'br' | 'gzip' | undefined;
  content: Buffer;
}

/** The files that a page begins with. */
export interface PageFiles {
  script: string;
  /** Scripts that the first one imports, then or later. */
  imported: string[];
  style: string;
}

/** The styles of all pages, in the manifest. */
const STYLE = 'style.css';

/** The bundles of the pages. They are read once: a new build is served after a restart. */
export class BuiltPages {
  readonly #manifest: Record<string, Chunk>;
  /** The keys of chunks that have no source of their own, such as the texts of a language. */
  readonly #named: Map<string | undefined, string>;
  readonly #names: Set<string>;
  readonly #contents = new Map<string, Buffer>();

  /** @throws Error if the folder holds no build */
  constructor(folder: URL = FOLDER) {
    this.#manifest = JSON.parse(readFileSync(new URL('manifest.json', folder), 'utf8'));
    const chunks = Object.entries(this.#manifest);
    this.#named = new Map(chunks.filter(([key]) => key.startsWith('_')).map(([key, { name }]) => [name, key]));
    this.#names = new Set(readdirSync(new URL('assets/', folder)));
  }

  /** A build of a former version has its styles in many files. */
  get hasStyles(): boolean {
    return STYLE in this.#manifest;
  }

  /**
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

/** Undefined where nobody has built the pages, or only a former version of them. */
export function findBuiltPages(): BuiltPages | undefined {
  const pages = existsSync(new URL('manifest.json', FOLDER)) ? new BuiltPages() : undefined;
  return pages?.hasStyles ? pages : undefined;
}

/** The codings of Accept-Encoding that are not refused with `q=0` (RFC 9110, 12.5.3). */
function acceptedEncodings(header: string | string[] | undefined): Set<string> {
  const items = String(header ?? '')
    .toLowerCase()
    .split(',');
  const parts = items.map((item) => item.split(';').map((part) => part.trim()));
  return new Set(parts.filter(([, quality]) => !/^q=0(\.0*)?$/.test(quality ?? '')).map(([coding = '']) => coding));
}
