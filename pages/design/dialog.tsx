import { type ReactNode, useEffect } from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Button } from './button.tsx';
import './dialog.css';
import { useText } from '../texts/text.tsx';

interface DialogProps {
  title: string;
  isOpen: boolean;
  /** Called for `Back` and Escape. The focus returns to where it came from (kept-focus.ts). */
  onBack: () => void;
  /** The last button, named after what it does. */
  action: ReactNode;
  children: ReactNode;
  /** The name of the other button, if it is not `Back`; null for no button. */
  back?: string | null;
}

/** A question before something is done. Everything behind it is out of reach until it is answered. */
export function Dialog({ title, isOpen, onBack, action, children, back }: DialogProps): ReactNode {
  const t = useText();
  useHiddenPage(isOpen);
  return (
    <ModalOverlay
      className="dialog-shade"
      isOpen={isOpen}
      onOpenChange={(open) => {
        if (!open) onBack();
      }}
    >
      <Modal className="dialog-frame">
        <AriaDialog className="dialog">
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          <div className="stack">{children}</div>
          <div className="dialog-buttons">
            {back !== null && <Button onPress={onBack}>{back ?? t('design.back')}</Button>}
            {action}
          </div>
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/** Number of open dialogs. */
let hiding = 0;

/** React Aria makes the page behind inert, but some assistive programs and test drivers only know `aria-hidden`. */
export function useHiddenPage(isHidden: boolean): void {
  useEffect(() => {
    const page = document.getElementById('root');
    if (!isHidden || !page) return;
    hiding += 1;
    page.setAttribute('aria-hidden', 'true');
    return () => {
      hiding -= 1;
      if (hiding === 0) page.removeAttribute('aria-hidden');
    };
  }, [isHidden]);
}
