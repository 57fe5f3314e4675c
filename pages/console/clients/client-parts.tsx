import type { ReactNode } from 'react';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';
import { ListLink } from '../lists/links.tsx';

/** The parts further down a client's page, by the ids of their headings. */
const PARTS: [string, TextKey][] = [
  ['contacts', 'console.client.contacts'],
  ['rules', 'console.rules.title'],
  ['limit', 'console.client.limit'],
  ['pricing', 'console.word.pricing'],
  ['currency-accounts', 'console.accounts.currency'],
  ['holds', 'console.holds.open'],
  ['payments', 'console.client.payments'],
  ['quotes', 'console.nav.quotes'],
  ['refused', 'console.nav.requests'],
];
const LISTS = ['files', 'payees', 'trades', 'accounts', 'statements', 'notifications', 'subscriptions'] as const;

/** Links to everything else about a client: further down the page, and in the lists. */
export function ClientParts({ clientId }: { clientId: string }): ReactNode {
  const t = useText();
  return (
    <nav className="console-parts" aria-label={t('console.client.parts')}>
      <p>
        <span className="small quiet">{t('console.client.below')}</span>
        {PARTS.map(([id, title]) => (
          <a key={id} href={`#${id}`}>
            {t(title)}
          </a>
        ))}
      </p>
      <p>
        <span className="small quiet">{t('console.client.lists')}</span>
        {LISTS.map((list) => (
          <ListLink key={list} to={`/${list}`} search={{ client_id: clientId }}>
            {t(`console.nav.${list}`)}
          </ListLink>
        ))}
      </p>
    </nav>
  );
}
