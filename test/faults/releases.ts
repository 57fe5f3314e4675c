import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '../world/command.ts';

/** What a program finds from its own place. Its dependencies and pages are those of this checkout. */
const OWN = ['bin', 'migrations', 'package.json', 'src'];
const REHEARSAL = readFileSync(new URL('../upgrades/rehearsal.sql', import.meta.url), 'utf8');
/** Migrations of the rehearsal come after all others. */
const FIRST_NUMBER = 9_000;

/** The number of the migration that a release adds. */
export function migrationOf(release: number): number {
  return FIRST_NUMBER + release;
}

/**
 * Makes a later program: this one, with as many migrations of the rehearsal as its number says.
 * @returns its folder
 */
export function makeRelease(inside: string, release: number): string {
  const folder = join(inside, `release-${release}`);
  mkdirSync(folder);
  for (const entry of readdirSync(REPOSITORY)) {
    if (OWN.includes(entry)) cpSync(join(REPOSITORY, entry), join(folder, entry), { recursive: true });
    else symlinkSync(join(REPOSITORY, entry), join(folder, entry));
  }
  for (let each = 1; each <= release; each += 1) {
    const number = migrationOf(each);
    const sql = REHEARSAL.replaceAll('rehearsal', `rehearsal_${number}`);
    writeFileSync(join(folder, 'migrations', `${number}_rehearsal.sql`), sql);
  }
  return folder;
}
