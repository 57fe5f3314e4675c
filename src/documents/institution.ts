import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The institution whose letterhead the documents carry (docs/decisions.md, 5). */
export interface Institution {
  name: string;
  /** Lines of the address. */
  address: string[];
  /** `#rrggbb`, for headings and rules. */
  colour: string;
  logo: Logo | undefined;
}

/** A picture as the renderer takes it: its path names its content, so that threads know when it changed. */
export interface Logo {
  path: string;
  data: Uint8Array;
}

/** Bytes a logo may have: it is in every document. */
const MAX_LOGO = 1_048_576;

/**
 * The institution from its settings.
 * @param settings.logo path of an SVG or PNG file
 * @throws Error when the logo is not readable, larger than 1 MiB, or neither SVG nor PNG
 */
export function institutionFrom(settings: {
  name: string;
  address: string[];
  colour: string;
  logo: string | undefined;
}): Institution {
  return { ...settings, logo: settings.logo === undefined ? undefined : logoFrom(readFileSync(settings.logo)) };
}

/** A logo from the bytes of an SVG or PNG file. */
export function logoFrom(data: Uint8Array): Logo {
  if (data.length > MAX_LOGO) throw new Error(`the logo has more than ${MAX_LOGO} bytes`);
  const png = Buffer.from(data.subarray(0, 8)).toString('latin1') === '\x89PNG\r\n\x1a\n';
  if (!png && !/<svg[\s>]/.test(Buffer.from(data.subarray(0, 4096)).toString('utf8')))
    throw new Error('the logo is neither SVG nor PNG');
  const digest = createHash('sha256').update(data).digest('hex').slice(0, 16);
  return { path: `/logo-${digest}.${png ? 'png' : 'svg'}`, data };
}

/** What a template is told of the institution. */
export function drawnInstitution(institution: Institution) {
  return {
    name: institution.name,
    address: institution.address,
    colour: institution.colour,
    logo: institution.logo?.path ?? null,
  };
}
