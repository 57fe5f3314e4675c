import { type Logo, readLogo } from './logo.ts';

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
