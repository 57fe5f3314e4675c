import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { useHiddenPage } from '../design/dialog.tsx';
import { type Find, Finder } from '../design/finder.tsx';
import { usePause } from '../design/pause.ts';
import { useText } from '../texts/text.tsx';
import { navIcon } from './nav-icons.ts';
import type { PaletteEntry, PaletteSource } from './palette-entries.ts';
import { setTheme, THEMES } from './theme.ts';
import './palette.css';

export interface PaletteProps {
  /** The application's pages. */
  links: { to: string; title: string }[];
  source: PaletteSource;
  onSignOut: () => void;
  onClose: () => void;
}

/** Maximum characters of a search text. */
const MAX_SOUGHT_LENGTH = 140;
const MIN_SOUGHT_LENGTH = 2;

/** The palette of everything that a person can open or do: pages, commands, and records by search. */
export function Palette({ links, source, onSignOut, onClose }: PaletteProps): ReactNode {
  const t = useText();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const sought = usePause(text.trim());
  useHiddenPage(true);
  const isSought = sought.length >= MIN_SOUGHT_LENGTH;
  const { data: records = [], isFetching } = useQuery({
    queryKey: ['palette', source.scope, sought],
    queryFn: ({ signal }) => source.find(sought, signal),
    enabled: isSought,
    placeholderData: keepPreviousData,
  });
  const pages = links.map(
    ({ to, title }): PaletteEntry => ({
      key: `page ${to}`,
      icon: navIcon(to),
      title,
      group: t('frame.goTo.pages'),
      to,
    }),
  );
  const acts: PaletteEntry[] = [
    ...source.acts,
    ...THEMES.map(
      (theme): PaletteEntry => ({
        key: `theme ${theme}`,
        icon: 'sun-moon',
        title: `${t('frame.theme')}: ${t(`frame.theme.${theme}`)}`,
        group: t('frame.goTo.acts'),
        act: () => setTheme(theme),
      }),
    ),
    { key: 'out', icon: 'x', title: t('frame.signOut'), group: t('frame.goTo.acts'), act: onSignOut },
  ];
  const named = (entries: PaletteEntry[]) => entries.filter(({ title }) => holds(String(title), text));
  const namedPages = named(pages);
  const entries = [...namedPages, ...(isSought ? records : []), ...named(acts)];
  const finds = entries.map((entry): Find => {
    const choose = () => {
      onClose();
      if ('act' in entry) entry.act();
      else void navigate({ to: entry.to as never, search: (entry.search ?? {}) as never });
    };
    return { ...entry, choose };
  });
  const isSettled = sought === text.trim() && !isFetching;
  return (
    <ModalOverlay className="palette-shade" isOpen isDismissable onOpenChange={(open) => open || onClose()}>
      <Modal className="palette-frame">
        <AriaDialog className="dialog palette" aria-label={t('frame.goTo')}>
          <Finder
            label={t('frame.goTo')}
            placeholder={t('frame.goTo.hint')}
            value={text}
            onChange={setText}
            finds={finds}
            none={finds.length === 0 && isSettled ? t('frame.goTo.none') : undefined}
            isAlways
            isEager
            // A page is found at once. A record that was found for another text is not chosen.
            isPending={!isSettled && namedPages.length === 0}
            maxLength={MAX_SOUGHT_LENGTH}
          />
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/** Whether each word of the text starts some word of the title, ignoring case and accents. */
function holds(title: string, text: string): boolean {
  const wordsOf = (some: string) =>
    plain(some)
      .split(/[^\p{L}\p{N}]+/u)
      .filter(Boolean);
  const words = wordsOf(title);
  return wordsOf(text).every((sought) => words.some((word) => word.startsWith(sought)));
}

function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}
