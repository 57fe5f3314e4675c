import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId } from 'react';
import { call } from '../../data/call.ts';
import { CallError } from '../../data/call-error.ts';
import { queryClient } from '../../data/queries.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { Failure } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';

interface Passwords {
  current_password: string;
  new_password: string;
}

/** Changes the password. This ends all other sessions and refresh tokens of the person. */
export function PasswordDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }): ReactNode {
  const t = useText();
  const form = useId();
  const change = useMutation({
    mutationFn: (body: Passwords) => call('POST', '/app/profile/password', { body }),
    onSuccess: async () => {
      onClose();
      onDone();
      await queryClient.invalidateQueries({ queryKey: ['sessions'] });
    },
  });
  const field = change.error instanceof CallError ? change.error.field : undefined;
  const isWrong = field === 'current_password';
  const isRefused = field === 'new_password';
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // The form has the fields of the call, and each is a text.
    change.mutate(Object.fromEntries(new FormData(event.currentTarget)) as unknown as Passwords);
  };
  return (
    <Dialog
      title={t('profile.password')}
      isOpen
      onBack={onClose}
      action={
        <Button kind="primary" type="submit" form={form} isPending={change.isPending}>
          {t('profile.password')}
        </Button>
      }
    >
      <p>{t('profile.password.text')}</p>
      <form id={form} className="stack" onSubmit={submit}>
        <TextField
          label={t('profile.password.current')}
          name="current_password"
          type="password"
          autoComplete="current-password"
          required
          error={isWrong ? t('profile.password.wrong') : undefined}
        />
        <TextField
          label={t('profile.password.new')}
          name="new_password"
          type="password"
          autoComplete="new-password"
          minLength={8}
          required
          hint={t('profile.password.rule')}
          error={isRefused ? t('profile.password.refused') : undefined}
        />
      </form>
      {change.error && !isWrong && !isRefused && <Failure error={change.error} />}
    </Dialog>
  );
}
