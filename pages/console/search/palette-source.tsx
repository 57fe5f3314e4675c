import type { Found } from '../../../src/http/console/search.ts';
import { call } from '../../data/call.ts';
import { ForeignText, visible } from '../../design/foreign-text.tsx';
import type { IconName } from '../../design/icon.tsx';
import type { PaletteEntry, PaletteSource } from '../../frame/palette-entries.ts';
import { useText } from '../../texts/text.tsx';
import { useMay } from '../staff.ts';
import { findAddress } from './addresses.ts';

const ICONS: Partial<Record<Found['kind'], IconName>> = {
  payment: 'send',
  file: 'files',
  trade: 'arrow-left-right',
  quote: 'repeat',
  payee: 'users',
  client: 'building-2',
  contact: 'user',
  request: 'circle-alert',
  notification: 'bell',
};

/** What Ctrl K finds besides the pages: the results of the search. */
export function usePaletteSource(): PaletteSource {
  const t = useText();
  const may = useMay();
  return {
    scope: 'console',
    acts: may('feed')
      ? [
          {
            key: 'new-client',
            icon: 'plus',
            title: t('console.new.client'),
            group: t('frame.goTo.acts'),
            to: '/new-client',
          },
        ]
      : [],
    find: async (text, signal) => {
      const { body } = await call<Found[]>('POST', '/console/search', { body: { q: text }, signal });
      return body.map((find): PaletteEntry => {
        const { kind, id, at, title, detail } = find;
        return {
          key: `${kind} ${id} ${at}`,
          icon: ICONS[kind] ?? 'search',
          title: visible(id),
          detail: <ForeignText>{[title, detail].filter(Boolean).join(' · ')}</ForeignText>,
          group: t(`console.kind.${kind}`),
          ...findAddress(find),
        };
      });
    },
  };
}
