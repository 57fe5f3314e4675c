import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The institution whose letterhead documents and mails carry (docs/decisions.md, 5). */
export interface Institution {
  name: string;
  /** Lines of the address. */
  address: string[];
  /** `#rrggbb`, for headings and rules. */
  colour: string;
  logo: Logo | undefined;
}

/**
 * The institution from its settings.
 * @param settings.logo path of an SVG or PNG file
 * @throws Error as `readLogo`
 */
export function institutionFrom(settings: {
  name: string;
  address: string[];
  colour: string;
  logo: string | undefined;
}): Institution {
  return { ...settings, logo: settings.logo === undefined ? undefined : readLogo(settings.logo) };
}

/** The institution's logo, on documents and pages. Its path contains a hash of its content, so that whoever keeps it sees when it has changed. */
export interface Logo {
  /** `/logo-<hash>.png` or `.svg` */
  path: string;
  data: Uint8Array;
}

/** Bytes of a logo, which is part of every document. */
const MAX_LOGO_BYTES = 1_048_576;

/** A logo from a file. @throws Error where it cannot be read, and as `logoFrom` */
export function readLogo(path: string): Logo {
  return logoFrom(readFileSync(path));
}

/**
 * A logo from the bytes of an SVG or PNG file: its content tells which, whatever the file is called.
 * @throws Error where it is larger than 1 MiB, or neither SVG nor PNG
 */
export function logoFrom(data: Uint8Array): Logo {
  if (data.length > MAX_LOGO_BYTES) throw new Error(`the logo has more than ${MAX_LOGO_BYTES} bytes`);
  const png = Buffer.from(data.subarray(0, 8)).toString('latin1') === '\x89PNG\r\n\x1a\n';
  if (!png && !/<svg[\s>]/.test(Buffer.from(data.subarray(0, 4096)).toString('utf8')))
    throw new Error('the logo is neither SVG nor PNG');
  const digest = createHash('sha256').update(data).digest('hex').slice(0, 16);
  return { path: `/logo-${digest}.${png ? 'png' : 'svg'}`, data };
}
