import { fileURLToPath } from 'node:url';

const NONE = fileURLToPath(new URL('./fonts/no-system-fonts.conf', import.meta.url));
const VARIABLE = 'FONTCONFIG_FILE';

/** Threads that are looking for their fonts. */
const looking = new Set<object>();
let former: string | undefined;

/**
 * Keeps the fonts of the system from the compiler of a thread that starts now. Otherwise documents would differ between machines. The
 * compiler has no setting for it, and reads the environment of the process, which only the main thread can change.
 * @returns what ends it, once the thread has its fonts or is gone
 */
export function hideSystemFonts(): () => void {
  // biome-ignore lint/plugin: it is set here, and read by the compiler
  const environment = process.env;
  if (looking.size === 0) former = environment[VARIABLE];
  environment[VARIABLE] = NONE;
  const thread = {};
  looking.add(thread);
  return () => {
    if (!looking.delete(thread) || looking.size > 0) return;
    if (former === undefined) delete environment[VARIABLE];
    else environment[VARIABLE] = former;
  };
}
