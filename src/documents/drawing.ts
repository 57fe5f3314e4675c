import type { Config } from '../settings/config.ts';
import { type Institution, institutionFrom } from '../settings/institution.ts';
import { StartupError } from '../values/errors.ts';
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
