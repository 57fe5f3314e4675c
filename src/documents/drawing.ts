import type { Config } from '../config.ts';
import { StartupError } from '../errors.ts';
import { type Institution, institutionFrom } from '../institution.ts';
import { Renderer } from './renderer.ts';

/** What documents are drawn with: one renderer for the process, and the institution that they come from. */
export interface Drawing {
  renderer: Renderer;
  institution: Institution;
}

/** @throws StartupError if the logo cannot be used */
export function createDrawing(config: Config): Drawing {
  try {
    return { renderer: new Renderer(), institution: institutionFrom(config.institution) };
  } catch (error) {
    throw new StartupError(`LOMBARD_INSTITUTION_LOGO: ${(error as Error).message}`);
  }
}
