import { useNavigate } from '@tanstack/react-router';
import type { FormEvent, ReactNode } from 'react';
import { Button } from '../../design/button.tsx';
import { useText } from '../../texts/text.tsx';
import { seek, useSought } from './sought.ts';

/** Maximum characters of a search text. */
const MAX_SOUGHT_LENGTH = 254;

/** The single search field in every page's header. It finds payments, people, clients, requests and notifications. */
export function SearchField(): ReactNode {
  const t = useText();
  const go = useNavigate();
  const sought = useSought();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('q') ?? '').trim();
    if (text === '') return;
    seek(text);
    void go({ to: '/search' as never });
  };
  return (
    <search>
      <form className="console-search" onSubmit={submit}>
        <input
          type="search"
          name="q"
          aria-label={t('console.search')}
          placeholder={t('console.search.short')}
          title={t('console.search.hint')}
          defaultValue={sought}
          maxLength={MAX_SOUGHT_LENGTH}
          autoComplete="off"
        />
        <Button type="submit">{t('console.search')}</Button>
      </form>
    </search>
  );
}
