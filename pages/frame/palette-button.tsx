import { type ComponentType, type ReactNode, useEffect, useState } from 'react';
import { Icon } from '../design/icon.tsx';
import { useText } from '../texts/text.tsx';
import type { PaletteProps } from './palette.tsx';

/** What the key beside K is called on this device. */
const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

/** Opens the list of everything that one can go to; Ctrl K and Cmd K do so too. Its file is loaded when it is opened first. */
export function PaletteButton(props: Omit<PaletteProps, 'onClose'>): ReactNode {
  const t = useText();
  const [Palette, setPalette] = useState<ComponentType<PaletteProps>>();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey)
        return;
      event.preventDefault();
      // A dialog is answered first.
      if (!document.querySelector('.dialog')) setOpen(true);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  useEffect(() => {
    if (!isOpen || Palette) return;
    // Where the file does not come, nothing opens: the pages are in the navigation too.
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
