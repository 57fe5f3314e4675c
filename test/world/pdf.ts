import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Reads PDFs with poppler, an independent reader. */

/** Why a test is skipped, or false if poppler is installed. */
export const noPoppler: string | false = spawnSync('pdftotext', ['-v']).error
  ? 'poppler-utils is not installed'
  : false;

function poppler(program: string, pdf: Buffer, args: (file: string) => string[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'lombard-pdf-'));
  try {
    const file = join(directory, 'document.pdf');
    writeFileSync(file, pdf);
    return execFileSync(program, args(file), {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The text in reading order; `layout` keeps the columns of a table. */
export function textOf(pdf: Buffer, layout = false): string {
  return poppler('pdftotext', pdf, (file) => [...(layout ? ['-layout'] : []), file, '-']);
}

export function infoOf(pdf: Buffer): Record<string, string> {
  const lines = poppler('pdfinfo', pdf, (file) => [file]).split('\n');
  return Object.fromEntries(lines.map((line) => [line.split(':')[0]!, line.slice(line.indexOf(':') + 1).trim()]));
}

/** Fonts as poppler sees them: name, embedded, has a map to Unicode. */
export function fontsOf(pdf: Buffer): { name: string; embedded: boolean; unicode: boolean }[] {
  const [, rule = '', ...rows] = poppler('pdffonts', pdf, (file) => [file])
    .trimEnd()
    .split('\n');
  const widths = rule.split(' ').map((dashes) => dashes.length);
  return rows.map((row) => {
    let at = 0;
    const cells = widths.map((width) => {
      const cell = row.slice(at, at + width).trim();
      at += width + 1;
      return cell;
    });
    return { name: cells[0]!, embedded: cells[3] === 'yes', unicode: cells[5] === 'yes' };
  });
}

export interface Word {
  page: number;
  text: string;
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Every word with its position on the page, in points. */
export function wordsOf(pdf: Buffer): Word[] {
  const html = poppler('pdftotext', pdf, (file) => ['-bbox', file, '-']);
  return html
    .split('<page ')
    .slice(1)
    .flatMap((page, index) =>
      [
        ...page.matchAll(/<word xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">(.*?)<\/word>/g),
      ].map((match) => ({
        page: index + 1,
        left: Number(match[1]),
        top: Number(match[2]),
        right: Number(match[3]),
        bottom: Number(match[4]),
        text: match[5]!,
      })),
    );
}

/** Margins of the page in points: nothing may be outside them (layout.typ, page-margin). */
const LEFT = 51;
const RIGHT = 595.3 - 51;
const BOTTOM = 841.9 - 20;
/** How much glyph boxes of neighbouring lines may overlap: they are taller than their ink. */
const SHARED_HEIGHT = 0.55;

/** Words in wrong positions: outside the margins, or overlapping others. */
export function misplaced(words: Word[]): string[] {
  const outside = words
    .filter((word) => word.left < LEFT - 1 || word.right > RIGHT + 1 || word.top < 0 || word.bottom > BOTTOM + 1)
    .map(
      (word) =>
        `page ${word.page}: ${word.text} is outside the margins (${word.left} to ${word.right}, ${word.bottom})`,
    );
  const overlapping: string[] = [];
  const pages = Map.groupBy(words, (word) => word.page);
  for (const [page, all] of pages) {
    all.sort((a, b) => a.top - b.top);
    all.forEach((word, index) => {
      for (let other = index + 1; other < all.length && all[other]!.top < word.bottom; other += 1) {
        const next = all[other]!;
        const width = Math.min(word.right, next.right) - Math.max(word.left, next.left);
        const height = Math.min(word.bottom, next.bottom) - Math.max(word.top, next.top);
        const least = Math.min(word.bottom - word.top, next.bottom - next.top);
        if (width > 1 && height > least * SHARED_HEIGHT)
          overlapping.push(`page ${page}: ${word.text} is over ${next.text}`);
      }
    });
  }
  return [...outside, ...overlapping];
}
