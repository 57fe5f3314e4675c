import { type ReactNode, useState } from 'react';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Checkbox } from '../../design/field.tsx';
import { useText } from '../../texts/text.tsx';
import { listKeys } from './list-keys.ts';
import './keys-dialog.css';

const KEYS = ['j', 'k', 'x', 'a', 'r', '?'] as const;

/** The list of keyboard shortcuts, and the switch that turns them off. */
export function KeysDialog({ onBack }: { onBack: () => void }): ReactNode {
  const t = useText();
  const [areOn, setOn] = useState(listKeys.areOn());
  return (
    <Dialog
      title={t('approvals.keys')}
      isOpen
      onBack={onBack}
      back={null}
      action={
        <Button kind="primary" onPress={onBack} autoFocus>
          {t('approvals.keys.close')}
        </Button>
      }
    >
      <dl className="keys">
        {KEYS.map((key) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{t(`approvals.keys.${key}`)}</dd>
          </div>
        ))}
      </dl>
      <Checkbox
        label={t('approvals.keys.on')}
        checked={areOn}
        onChange={({ target }) => {
          listKeys.set(target.checked);
          setOn(target.checked);
        }}
      />
    </Dialog>
  );
}
