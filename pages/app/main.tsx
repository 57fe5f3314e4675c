import { learnPosition } from '../data/live.ts';
import { createPageRouter } from '../frame/router.tsx';
import { firstOf, parseSearch } from '../frame/search.ts';
import { start } from '../frame/start.tsx';
import type { TextFiles } from '../texts/load.ts';
import type { Messages } from '../texts/text.tsx';
import { AppFrame } from './app-frame.tsx';
import { ForClient } from './client.tsx';
import { PAGES } from './pages.ts';

const texts: TextFiles = import.meta.glob<Messages>(
  ['../texts/shared/*/*.json', '../texts/app/*/*.json', '../texts/refusals/*/*.json'],
  { import: 'default' },
);

void start({
  prefix: '/app',
  router: createPageRouter({ basepath: '/app', frame: AppFrame, around: ForClient, pages: PAGES, kept: ['client_id'] }),
  texts,
  learn: async () => {
    const clientId = firstOf(parseSearch(location.search).client_id);
    if (clientId !== undefined) await learnPosition(clientId);
  },
});
