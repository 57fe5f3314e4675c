import { createPageRouter } from '../frame/router.tsx';
import { start } from '../frame/start.tsx';
import type { TextFiles } from '../texts/load.ts';
import type { Messages } from '../texts/text.tsx';
import { ConsoleFrame } from './console-frame.tsx';
import { applyLanguage } from './language.ts';
import { PAGES } from './pages.ts';

const texts: TextFiles = import.meta.glob<Messages>(
  ['../texts/shared/*/*.json', '../texts/console/*/*.json', '../texts/refusals/*/*.json'],
  {
    import: 'default',
  },
);

applyLanguage();
void start({
  prefix: '/console',
  router: createPageRouter({ basepath: '/console', frame: ConsoleFrame, pages: PAGES, kept: [] }),
  texts,
});
