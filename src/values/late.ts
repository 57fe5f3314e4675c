import { createRequire } from 'node:module';

/**
 * A package that is loaded where it is first needed, at once: a process that never needs it starts sooner and is smaller.
 * @param load requires it: `late((require) => require('undici') as typeof import('undici'))`
 */
export function late<T>(load: (require: NodeJS.Require) => T): () => T {
  let loaded: T | undefined;
  return () => {
    loaded ??= load(createRequire(import.meta.url));
    return loaded;
  };
}
