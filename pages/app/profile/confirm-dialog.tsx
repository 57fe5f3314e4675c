import { type FormEvent, type ReactNode, useId } from 'react';
import { CallError } from '../../data/call-error.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { Failure } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';

/** Whether the service asks for the password first: the sign-in is not recent, or the password was wrong. */
export function needsPassword(error: unknown): boolean {
  return error instanceof CallError && error.field === 'current_password';
}

/** Asks for the password again, so that nobody can change the sign-in from an unattended browser. */
export function ConfirmDialog({
  title,
  error,
  onConfirm,
  onClose,
}: {
  title: string;
  /** Why the password is requested, or was refused. */
  error: unknown;
  onConfirm: (password: string) => void;
  onClose: () => void;
}): ReactNode {
  const t = useText();
  const form = useId();
  const wasWrong = error instanceof CallError && error.details.endsWith('is wrong');
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onConfirm(String(new FormData(event.currentTarget).get('current_password')));
  };
  return (
    <Dialog
      title={title}
      isOpen
      onBack={onClose}
      action={
        <Button kind="primary" type="submit" form={form}>
          {t('profile.continue')}
        </Button>
      }
    >
      <p>{t('profile.confirm')}</p>
      <form id={form} onSubmit={submit}>
        <TextField
          label={t('profile.password.current')}
          name="current_password"
          type="password"
          autoComplete="current-password"
          required
          error={wasWrong ? t('profile.password.wrong') : undefined}
        />
      </form>
      {!needsPassword(error) && error ? <Failure error={error} /> : null}
    </Dialog>
  );
}
