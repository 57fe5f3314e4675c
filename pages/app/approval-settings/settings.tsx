import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { settingsQuery } from '../../data/approval-settings.ts';
import { Facts } from '../../design/facts.tsx';
import { Status } from '../../design/notice.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { Page } from '../../frame/page.tsx';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { ConfigurationForm } from './configuration-form.tsx';
import { Versions } from './versions.tsx';
import './settings.css';

/** Who must approve payments: settings, groups, rules, and their history. */
export default function SettingsPage(): ReactNode {
  const t = useText();
  const { client_id: clientId, permissions } = useClient();
  const [done, setDone] = useState('');
  const { data, error, refetch } = useQuery(settingsQuery(clientId));
  const mayManage = permissions.includes('can_manage_permissions');
  const yes = (value: boolean) => t(value ? 'settings.yes' : 'settings.no');
  return (
    <Page title={t('settings.title')}>
      <p className="quiet">{t(mayManage ? 'settings.intro' : 'settings.readOnly')}</p>
      <Status>{done}</Status>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading rows={8} />}
      {data && (
        <>
          <section className="card stack" aria-label={t('settings.workflow')}>
            <h2>{t('settings.workflow')}</h2>
            <Facts
              facts={[
                { name: t('settings.enabled'), value: yes(data.scene.payment_approvals_enabled) },
                {
                  name: t('settings.governs'),
                  value: t(
                    data.configuration.ruleset
                      ? 'settings.governs.rules'
                      : (`settings.eyes.${data.scene.authorisation_workflow}` as TextKey),
                  ),
                },
                { name: t('settings.creator'), value: yes(data.scene.payment_creator_approval_enabled) },
                { name: t('settings.stepUp'), value: yes(data.scene.approval_step_up) },
              ]}
            />
            <p className="quiet small">{t('settings.workflow.text')}</p>
          </section>
          <ConfigurationForm
            key={data.version}
            version={data.version}
            configuration={data.configuration}
            people={data.scene.people}
            mayManage={mayManage}
            onDone={setDone}
          />
        </>
      )}
      <Versions />
    </Page>
  );
}
