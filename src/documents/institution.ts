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

/** A picture as the renderer takes it. Its path contains a hash of its content, so that threads see when it has changed. */
export interface Logo {
  path: string;
  data: Uint8Array;
}

/** Bytes of a logo, which is part of every document. */
const MAX_LOGO_BYTES = 1_048_576;

/**
 * The institution from its settings.
 * @param settings.logo path of an SVG or PNG file
 * @throws Error if the logo is not readable, larger than 1 MiB, or neither SVG nor PNG
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
  if (data.length > MAX_LOGO_BYTES) throw new Error(`the logo has more than ${MAX_LOGO_BYTES} bytes`);
  const png = Buffer.from(data.subarray(0, 8)).toString('latin1') === '\x89PNG\r\n\x1a\n';
  if (!png && !/<svg[\s>]/.test(Buffer.from(data.subarray(0, 4096)).toString('utf8')))
    throw new Error('the logo is neither SVG nor PNG');
  const digest = createHash('sha256').update(data).digest('hex').slice(0, 16);
  return { path: `/logo-${digest}.${png ? 'png' : 'svg'}`, data };
}

/** The institution as templates take it. */
export function drawnInstitution(institution: Institution) {
  return {
    name: institution.name,
    address: institution.address,
    colour: institution.colour,
    logo: institution.logo?.path ?? null,
  };
}
