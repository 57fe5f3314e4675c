import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import type { RecoveryCodes } from '../../../src/identity/second-factor/recovery-code.ts';
import { call } from '../../data/call.ts';
import { refreshSession } from '../../data/session.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Status } from '../../design/notice.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { ConfirmDialog, needsPassword } from './confirm-dialog.tsx';
import './recovery-dialog.css';

/** Makes new recovery codes and shows them. The former ones stop working. */
export function RecoveryDialog({ onClose }: { onClose: () => void }): ReactNode {
  const t = useText();
  const make = useMutation({
    mutationFn: async (password: string | undefined) => {
      const body = password === undefined ? {} : { current_password: password };
      return (await call<RecoveryCodes>('POST', '/app/profile/recovery-codes', { body })).body;
    },
    onSuccess: refreshSession,
  });
  const { mutate } = make;
  const [isSure, setSure] = useState(false);
  useEffect(() => {
    if (isSure) mutate(undefined);
  }, [isSure, mutate]);
  if (make.data) return <CodesDialog codes={make.data.recovery_codes} onClose={onClose} />;
  if (needsPassword(make.error))
    return <ConfirmDialog title={t('profile.recovery.new')} error={make.error} onConfirm={mutate} onClose={onClose} />;
  return (
    <Dialog
      title={t('profile.recovery.new')}
      isOpen
      onBack={onClose}
      action={
        <Button kind="primary" onPress={() => setSure(true)} isPending={make.isPending}>
          {t('profile.recovery.new')}
        </Button>
      }
    >
      <p>{t('profile.recovery.ask')}</p>
      {make.error ? <Failure error={make.error} /> : make.isPending && <Loading rows={2} />}
    </Dialog>
  );
}

/** Recovery codes, shown only this once. */
export function CodesDialog({ codes, onClose }: { codes: string[]; onClose: () => void }): ReactNode {
  const t = useText();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(codes.join('\n'));
    setCopied(true);
  };
  return (
    <Dialog
      title={t('profile.recovery')}
      isOpen
      onBack={onClose}
      back={null}
      action={
        <Button kind="primary" onPress={onClose}>
          {t('profile.recovery.noted')}
        </Button>
      }
    >
      <p>{t('profile.recovery.text')}</p>
      <ul className="recovery-codes" aria-label={t('profile.recovery')}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <Button onPress={() => void copy()}>{t('profile.copy')}</Button>
      <Status>{isCopied ? t('profile.copied') : undefined}</Status>
    </Dialog>
  );
}
