import { type ComponentType, type ReactNode, useEffect, useState } from 'react';
import { Icon } from '../design/icon.tsx';
import { useText } from '../texts/text.tsx';
import type { PaletteProps } from './palette.tsx';

/** The name of the modifier key on this device. */
const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

/** Opens the command palette; so do Ctrl K and Cmd K. Its file is loaded when it is first opened. */
export function PaletteButton(props: Omit<PaletteProps, 'onClose'>): ReactNode {
  const t = useText();
  const [Palette, setPalette] = useState<ComponentType<PaletteProps>>();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey)
        return;
      event.preventDefault();
      // An open dialog must be answered first.
      if (!document.querySelector('.dialog')) setOpen(true);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  useEffect(() => {
    if (!isOpen || Palette) return;
    // If the file cannot be loaded, nothing opens: the pages are also in the navigation.
    import('./palette.tsx').then((module) => setPalette(() => module.Palette)).catch(() => setOpen(false));
  }, [isOpen, Palette]);
  return (
    <>
      <button
        type="button"
        className="button palette-button"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setOpen(true)}
      >
        <Icon name="search" />
        {t('frame.goTo')}
        <span className="key" aria-hidden="true">
          {isApple ? '⌘K' : 'Ctrl K'}
        </span>
      </button>
      {isOpen && Palette && <Palette {...props} onClose={() => setOpen(false)} />}
    </>
  );
}
