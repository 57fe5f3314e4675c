import type { Institution, Logo } from '../settings/institution.ts';
import type { Language } from '../values/language.ts';
import { inHtml } from '../values/text.ts';

/** The Content-ID of the logo, by which the HTML shows it (RFC 2392). */
export const LOGO_ID = 'logo@lombard';
/** The most bytes of a logo that each mail contains. */
const MAX_LOGO_BYTES = 102_400;

/** A part of a mail: a paragraph, facts with their names, or a link with its label. */
export type MailBlock =
  | { text: string; muted?: true }
  | { facts: [name: string, value: string][] }
  | { link: string; label: string };

/** The contents of a mail, and on whose behalf it is sent. */
export interface MailContent {
  language: Language;
  title: string;
  institution: Institution;
  blocks: MailBlock[];
}

/**
 * A mail as plain text and as HTML, with the institution's name, address and logo. Foreign texts are escaped (inHtml).
 * @returns also the logo if the HTML shows it: a small PNG, because mail programs show no SVG
 */
export function mailTexts(content: MailContent): { text: string; html: string; logo: Logo | undefined } {
  const { institution, blocks } = content;
  const text = [...blocks.map(plain), [institution.name, ...institution.address].join('\n')].join('\n\n');
  const { logo } = institution;
  const shown = logo?.path.endsWith('.png') && logo.data.length <= MAX_LOGO_BYTES ? logo : undefined;
  return { text: `${text}\n`, html: page(content, shown), logo: shown };
}

function plain(block: MailBlock): string {
  if ('text' in block) return block.text;
  if ('link' in block) return `${block.label}:\n${block.link}`;
  const width = Math.max(...block.facts.map(([name]) => name.length)) + 2;
  return block.facts.map(([name, value]) => `${`${name}:`.padEnd(width)}${value}`).join('\n');
}

function page({ language, title, institution, blocks }: MailContent, logo: Logo | undefined): string {
  const rule = `border-bottom:3px solid ${institution.colour};font-weight:bold;color:${institution.colour}`;
  return `<!doctype html>
<html lang="${language === 'en' ? 'en-GB' : language}"><head><meta charset="utf-8"><title>${inHtml(title)}</title></head>
<body style="margin:0;padding:24px;font:15px/1.5 Arial,Helvetica,sans-serif;color:#1a1a1a;background:#fff">
<div style="max-width:560px">
<p style="margin:0 0 24px;padding:0 0 8px;${rule}">${logo ? LOGO : ''}${inHtml(institution.name)}</p>
${blocks.map((block) => html(block, institution.colour)).join('\n')}
<p style="color:#555;font-size:13px">${[institution.name, ...institution.address].map(inHtml).join('<br>')}</p>
</div></body></html>
`;
}

/** The institution's name is next to it, even if a program shows no images. */
const LOGO = `<img src="cid:${LOGO_ID}" alt="" height="32" style="height:32px;vertical-align:middle;margin-right:12px">`;
const FACT_NAME = 'text-align:left;font-weight:normal;color:#555;padding:2px 16px 2px 0;vertical-align:top';

function html(block: MailBlock, colour: string): string {
  if ('text' in block) return `<p${block.muted ? ' style="color:#555"' : ''}>${inHtml(block.text)}</p>`;
  if ('link' in block)
    return `<p><a href="${inHtml(block.link)}" style="color:${colour};font-weight:bold">${inHtml(block.label)}</a></p>`;
  const rows = block.facts.map(
    ([name, value]) =>
      `<tr><th style="${FACT_NAME}">${inHtml(name)}</th><td style="padding:2px 0">${inHtml(value)}</td></tr>`,
  );
  return `<table role="presentation" style="border-collapse:collapse;margin:16px 0">${rows.join('')}</table>`;
}
