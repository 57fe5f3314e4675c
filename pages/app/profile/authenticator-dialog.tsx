import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useId, useState } from 'react';
import type { BegunSetup } from '../../../src/identity/second-factor/authenticator-setup.ts';
import type { RecoveryCodes } from '../../../src/identity/second-factor/recovery-code.ts';
import { call } from '../../data/call.ts';
import { CallError } from '../../data/call-error.ts';
import { refreshSession } from '../../data/session.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { QrCode } from '../../design/qr-code.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { ConfirmDialog, needsPassword } from './confirm-dialog.tsx';
import { CodesDialog } from './recovery-dialog.tsx';

interface DialogProps {
  onClose: () => void;
  onDone: () => void;
}

/** Sets up an authenticator: the password if the sign-in is not recent, the QR code, the first code, and the recovery codes. */
export function AuthenticatorDialog({ onClose, onDone }: DialogProps): ReactNode {
  const t = useText();
  const begin = useMutation({
    mutationFn: async (password: string | undefined) => {
      const body = password === undefined ? {} : { current_password: password };
      return (await call<BegunSetup>('POST', '/app/profile/authenticator', { body })).body;
    },
  });
  const { mutate } = begin;
  useEffect(() => mutate(undefined), [mutate]);
  const [codes, setCodes] = useState<string[]>();
  if (codes) return <CodesDialog codes={codes} onClose={onClose} />;
  if (begin.data)
    return (
      <FirstCodeDialog
        begun={begin.data}
        onClose={onClose}
        onCodes={(made) => {
          setCodes(made);
          onDone();
        }}
      />
    );
  return needsPassword(begin.error) ? (
    <ConfirmDialog title={t('profile.authenticator')} error={begin.error} onConfirm={mutate} onClose={onClose} />
  ) : (
    <Dialog title={t('profile.authenticator')} isOpen onBack={onClose} action={null}>
      {begin.error ? <Failure error={begin.error} /> : <Loading />}
    </Dialog>
  );
}

function FirstCodeDialog({
  begun,
  onClose,
  onCodes,
}: {
  begun: BegunSetup;
  onClose: () => void;
  onCodes: (codes: string[]) => void;
}): ReactNode {
  const t = useText();
  const form = useId();
  const confirm = useMutation({
    mutationFn: async (code: string) => {
      const body = { setup: begun.setup, verification_code: code };
      return (await call<RecoveryCodes>('POST', '/app/profile/authenticator/confirmation', { body })).body;
    },
    onSuccess: async ({ recovery_codes: codes }) => {
      onCodes(codes);
      await refreshSession();
    },
  });
  const isWrong = confirm.error instanceof CallError && confirm.error.field === 'verification_code';
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    confirm.mutate(String(new FormData(event.currentTarget).get('verification_code')));
  };
  return (
    <Dialog
      title={t('profile.authenticator')}
      isOpen
      onBack={onClose}
      action={
        <Button kind="primary" type="submit" form={form} isPending={confirm.isPending}>
          {t('profile.authenticator.confirm')}
        </Button>
      }
    >
      <p>{t('profile.authenticator.scan')}</p>
      <QrCode text={begun.uri} name={t('profile.authenticator.code')} />
      <p className="small">
        {t('profile.authenticator.secret')}
        <br />
        <code>{begun.secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
      </p>
      <form id={form} onSubmit={submit}>
        <TextField
          label={t('profile.code')}
          name="verification_code"
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={12}
          required
          error={isWrong ? t('profile.code.wrong') : undefined}
        />
      </form>
      {confirm.error && !isWrong && <Failure error={confirm.error} />}
    </Dialog>
  );
}
