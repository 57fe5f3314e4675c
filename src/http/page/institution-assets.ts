import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { Config } from '../../settings/config.ts';
import { readLogo } from '../../settings/institution.ts';
import { brandColours } from './contrast.ts';
import { html } from './html.ts';

/** A file that the service makes from its configuration. Its name changes with its content. */
export interface InstitutionAsset {
  name: string;
  type: string;
  content: Buffer;
}

/** The institution's logo, the same as in documents; undefined if none is configured. @throws Error like `readLogo` */
export function institutionLogo({ institution: { logo } }: Config): InstitutionAsset | undefined {
  if (logo === undefined) return undefined;
  const { path, data } = readLogo(logo);
  return {
    name: basename(path),
    type: path.endsWith('.png') ? 'image/png' : 'image/svg+xml',
    content: Buffer.from(data),
  };
}

/** The icon of the browser's tab: the initial on the institution's colour. */
export function institutionIcon({ institution }: Config): InstitutionAsset {
  const { brand, onBrand } = brandColours(institution.colour);
  const drawing = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${brand}"/>
<text x="16" y="23" font-family="system-ui,sans-serif" font-size="20" font-weight="700" text-anchor="middle"
  fill="${onBrand}">${initialOf(institution.name)}</text></svg>`;
  return asset('icon.svg', 'image/svg+xml', Buffer.from(drawing.text));
}

/** The first letter of the institution's name, used if it has no logo. */
export function initialOf(name: string): string {
  return [...name.trim()][0]?.toUpperCase() ?? '';
}

function asset(name: string, type: string, content: Buffer): InstitutionAsset {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 8);
  return { name: name.replace('.', `-${hash}.`), type, content };
}
