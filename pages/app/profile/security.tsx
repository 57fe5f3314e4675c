import { type ReactNode, useState } from 'react';
import { useSession } from '../../data/session.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Facts } from '../../design/facts.tsx';
import { Status } from '../../design/notice.tsx';
import { useText } from '../../texts/text.tsx';
import { AuthenticatorDialog } from './authenticator-dialog.tsx';
import { PasswordDialog } from './password-dialog.tsx';
import { RecoveryDialog } from './recovery-dialog.tsx';

type Open = 'authenticator' | 'recovery' | 'password';

/** How the person signs in: the second factor, its recovery codes, and the password. */
export function Security(): ReactNode {
  const t = useText();
  const { second_factor: factor, recovery_codes: codes } = useSession();
  const [open, setOpen] = useState<Open>();
  const [done, setDone] = useState<string>();
  const close = () => setOpen(undefined);
  const start = (what: Open) => {
    setDone(undefined);
    setOpen(what);
  };
  return (
    <section className="card stack" aria-label={t('profile.security')}>
      <h2>{t('profile.security')}</h2>
      <Facts
        facts={[
          {
            name: t('profile.factor'),
            value: <Badge tone={factor === 'none' ? 'warn' : 'good'}>{t(`profile.factor.${factor}`)}</Badge>,
          },
          ...(factor === 'totp'
            ? [{ name: t('profile.recovery'), value: t('profile.recovery.left', { count: codes }) }]
            : []),
        ]}
      />
      <div className="row">
        <Button onPress={() => start('authenticator')}>{t('profile.authenticator')}</Button>
        {factor === 'totp' && <Button onPress={() => start('recovery')}>{t('profile.recovery.new')}</Button>}
        <Button onPress={() => start('password')}>{t('profile.password')}</Button>
      </div>
      <Status>{done}</Status>
      {open === 'authenticator' && (
        <AuthenticatorDialog onClose={close} onDone={() => setDone(t('profile.authenticator.done'))} />
      )}
      {open === 'recovery' && <RecoveryDialog onClose={close} />}
      {open === 'password' && <PasswordDialog onClose={close} onDone={() => setDone(t('profile.password.done'))} />}
    </section>
  );
}
