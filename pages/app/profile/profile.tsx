import type { ReactNode } from 'react';
import { useSession } from '../../data/session.ts';
import { Facts } from '../../design/facts.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { Preferences } from './preferences.tsx';
import { Security } from './security.tsx';
import { Sessions } from './sessions.tsx';

/** The person who is signed in, and their own settings. */
export default function ProfilePage(): ReactNode {
  const t = useText();
  const { name, email } = useSession();
  return (
    <Page title={t('profile.title')}>
      <section className="card">
        <Facts
          facts={[
            { name: t('profile.name'), value: <ForeignText>{name}</ForeignText>, isWhole: true },
            { name: t('profile.email'), value: <ForeignText>{email}</ForeignText>, isWhole: true },
          ]}
        />
      </section>
      <Preferences />
      <Security />
      <Sessions />
    </Page>
  );
}
