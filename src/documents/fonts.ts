import { readdirSync } from 'node:fs';
import type { Db } from '../database/database.ts';
import type { Logger } from '../process/log.ts';
import { StartupError } from '../values/errors.ts';
import { messageOf } from '../values/unknown.ts';

/** Files that Typst reads as fonts. */
export const FONT_FILE = /\.(ttf|otf|ttc)$/i;
/** A letter of a script that no font in fonts/ covers. The fonts cover signs and digits that scripts share. */
const FOREIGN_LETTER =
  /[^\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Common}\p{Script=Inherited}]/u;
/** The number of payees whose names are examined: those with the last ids. */
const MAX_NAMES = 10_000;

/** What a person can do about it. */
export const FONTS_REMEDY = 'name a directory with such fonts in LOMBARD_DOCUMENT_FONTS (docs/documents.md, Fonts)';

/** The message about a payee that `payeeWithoutFont` found. */
export function withoutFont(payee: string): string {
  return `documents show boxes in place of the name of ${payee}, for whose script they have no font`;
}

/**
 * @param directory LOMBARD_DOCUMENT_FONTS
 * @throws StartupError if it cannot be read or contains no font
 */
export function checkFonts(directory: string | undefined): void {
  if (directory === undefined) return;
  const refused = (why: string) =>
    new StartupError(
      `LOMBARD_DOCUMENT_FONTS: must be a directory with fonts (ttf, otf, ttc), not "${directory}" (${why})`,
    );
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch (error) {
    throw refused(messageOf(error));
  }
  if (!names.some((name) => FONT_FILE.test(name))) throw refused('it has no such file');
}

interface LogFonts {
  /** LOMBARD_DOCUMENT_FONTS */
  directory: string | undefined;
  cells: () => Promise<Db[]>;
  log: Logger;
}

/** The id of a payee of this cell whose name needs a font that does not come with the service, or undefined. */
export async function payeeWithoutFont(db: Db): Promise<string | undefined> {
  const { rows } = await db.query<{ beneficiary_id: string; beneficiary_name: string }>(
    `select beneficiary_id, beneficiary_name from (
       select beneficiary_id, beneficiary_name from beneficiaries order by beneficiary_id desc limit ${MAX_NAMES}
     ) as last where octet_length(beneficiary_name) > length(beneficiary_name)`,
  );
  return rows.find(({ beneficiary_name: name }) => FOREIGN_LETTER.test(name))?.beneficiary_id;
}

/**
 * Logs which additional fonts documents have, or that a payee's name needs some. A start does not wait for it. It never rejects: if a
 * database does not answer, the others are looked at, and the next start and doctor look again.
 * @param cells gives the cells' databases
 */
export async function logFonts({ directory, cells, log }: LogFonts): Promise<void> {
  if (directory !== undefined) return log.info({ directory }, 'documents also use the fonts of a directory');
  let failure: unknown;
  const failed = (error: unknown) => {
    failure = error;
    return undefined;
  };
  for (const db of (await cells().catch(failed)) ?? []) {
    const payee = await payeeWithoutFont(db).catch(failed);
    if (payee !== undefined) return log.info(`${withoutFont(payee)}: ${FONTS_REMEDY}`);
  }
  if (failure !== undefined)
    log.warn({ reason: messageOf(failure) }, 'it is not known whether a name needs a font; doctor looks again');
}
