import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The institution in the letterhead of documents and mails (docs/decisions.md, 5). */
export interface Institution {
  name: string;
  /** The lines of the address. */
  address: string[];
  /** `#rrggbb`, for headings and rules. */
  colour: string;
  logo: Logo | undefined;
}

/**
 * The institution from its settings.
 * @param settings.logo path of an SVG or PNG file
 * @throws Error like `readLogo`
 */
export function institutionFrom(settings: {
  name: string;
  address: string[];
  colour: string;
  logo: string | undefined;
}): Institution {
  return { ...settings, logo: settings.logo === undefined ? undefined : readLogo(settings.logo) };
}

/** The institution's logo, for documents and pages. Its path contains a hash of its content, so that caches notice a change. */
export interface Logo {
  /** `/logo-<hash>.png` or `.svg` */
  path: string;
  data: Uint8Array;
}

/** The most bytes of a logo, which is part of every document. */
const MAX_LOGO_BYTES = 1_048_576;

/** A logo from a file. @throws Error if it cannot be read, and like `logoFrom` */
export function readLogo(path: string): Logo {
  return logoFrom(readFileSync(path));
}

/**
 * A logo from the bytes of an SVG or PNG file. Its type is determined by its content, whatever the file's name.
 * @throws Error if it is larger than 1 MiB, or neither SVG nor PNG
 */
export function logoFrom(data: Uint8Array): Logo {
  if (data.length > MAX_LOGO_BYTES) throw new Error(`the logo has more than ${MAX_LOGO_BYTES} bytes`);
  const png = Buffer.from(data.subarray(0, 8)).toString('latin1') === '\x89PNG\r\n\x1a\n';
  if (!png && !/<svg[\s>]/.test(Buffer.from(data.subarray(0, 4096)).toString('utf8')))
    throw new Error('the logo is neither SVG nor PNG');
  const digest = createHash('sha256').update(data).digest('hex').slice(0, 16);
  return { path: `/logo-${digest}.${png ? 'png' : 'svg'}`, data };
}
