import { createRequire } from 'node:module';

/**
 * Loads a package synchronously when it is first needed. A process that never needs it starts sooner and uses less memory.
 * @param load requires it: `late((require) => require('undici') as typeof import('undici'))`
 */
export function late<T>(load: (require: NodeJS.Require) => T): () => T {
  let loaded: T | undefined;
  return () => {
    loaded ??= load(createRequire(import.meta.url));
    return loaded;
  };
}
