import { type ReactNode, useState } from 'react';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Status } from '../../design/notice.tsx';
import { useText } from '../../texts/text.tsx';

/** A secret, shown only once: the page forgets it when the dialog closes. */
export function SecretDialog({ secret, onBack }: { secret: string; onBack: () => void }): ReactNode {
  const t = useText();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(secret);
    setCopied(true);
  };
  return (
    <Dialog
      title={t('webhooks.secret')}
      isOpen
      onBack={onBack}
      back={t('webhooks.secret.kept')}
      action={
        // Browsers give pages no clipboard without HTTPS.
        'clipboard' in navigator && (
          <Button kind="primary" onPress={() => void copy()}>
            {t('webhooks.secret.copy')}
          </Button>
        )
      }
    >
      <p>{t('webhooks.secret.text')}</p>
      <p>
        <code data-secret>{secret}</code>
      </p>
      <Status>{isCopied ? t('webhooks.secret.copied') : ''}</Status>
    </Dialog>
  );
}
