import { QueryClientProvider } from '@tanstack/react-query';
import { type AnyRouter, RouterProvider } from '@tanstack/react-router';
import { StrictMode, startTransition } from 'react';
import { I18nProvider } from 'react-aria-components/I18nProvider';
import { createRoot } from 'react-dom/client';
import { queryClient } from '../data/queries.ts';
import { sessionQuery } from '../data/session-life.ts';
import '../design/tokens.css';
import '../design/base.css';
import { loadTexts, type TextFiles } from '../texts/load.ts';
import { LANGUAGES, TextContext } from '../texts/text.tsx';
import { applyTheme } from './theme.ts';

interface Application {
  /** `/app` or `/console`. */
  prefix: string;
  router: AnyRouter;
  texts: TextFiles;
  /** Loads what else must be known before the first page is drawn. */
  learn?: () => Promise<void>;
}

/** Draws an application into its document, in the document's language. What the first page needs is fetched in parallel. */
export async function start({ prefix, router, texts, learn }: Application): Promise<void> {
  applyTheme();
  const language = LANGUAGES.find((each) => each === document.documentElement.lang) ?? 'en';
  const session = queryClient.prefetchQuery(sessionQuery(prefix));
  const [messages] = await Promise.all([loadTexts(texts, language), router.load(), session, learn?.()]);
  const root = document.getElementById('root');
  if (!root) throw new Error('the document has no #root');
  const application = (
    <StrictMode>
      <TextContext value={{ language, messages }}>
        <I18nProvider locale={language}>
          <QueryClientProvider client={queryClient}>
            <RouterProvider router={router} />
          </QueryClientProvider>
        </I18nProvider>
      </TextContext>
    </StrictMode>
  );
  // A transition renders in slices of some milliseconds, so that a slow phone can scroll and take taps in between.
  startTransition(() => createRoot(root).render(application));
}
