import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { type ApprovalConfigurationVersion, versionQuery, versionsQuery } from '../../data/approval-settings.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { ForeignText, isolated } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { formatMoney } from '../../design/money.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { useLocale, useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { PagedList } from '../paged-list.tsx';
import { type Difference, differences } from './difference.ts';

const PAGE_ROWS = 10;

/** Former versions of the configuration: when, by whom, and what each one changed. */
export function Versions(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const [page, setPage] = useState(1);
  const [shown, setShown] = useState<number>();
  const found = useQuery(versionsQuery(clientId, page, PAGE_ROWS));
  return (
    <section className="card stack" aria-label={t('settings.versions')}>
      <h2>{t('settings.versions')}</h2>
      <PagedList found={found} page={page} size={PAGE_ROWS} onPage={setPage} expected={2}>
        {({ rows, total }) =>
          total === 0 ? (
            <p className="quiet">{t('settings.versions.none')}</p>
          ) : (
            <Table
              name={t('settings.versions')}
              columns={[
                { key: 'version', title: t('settings.version'), cell: ({ version }) => version },
                { key: 'at', title: t('settings.at'), cell: ({ created_date: at }) => <Moment at={at} /> },
                {
                  key: 'by',
                  title: t('settings.by'),
                  cell: (version) => <ForeignText>{authorOf(version)}</ForeignText>,
                },
                {
                  key: 'what',
                  title: t('settings.what'),
                  cell: ({ version }) => (
                    <Button
                      kind="quiet"
                      aria-label={t('settings.what.of', { version })}
                      onPress={() => setShown(version)}
                    >
                      {t('settings.show')}
                    </Button>
                  ),
                },
              ]}
              rows={rows}
              rowKey={({ version }) => version}
            />
          )
        }
      </PagedList>
      {shown !== undefined && <VersionDialog version={shown} onBack={() => setShown(undefined)} />}
    </section>
  );
}

/** A contact by name, and any other actor as the audit trail writes it. */
function authorOf({ contact_name: name, created_by: actor }: ApprovalConfigurationVersion): string {
  return name ?? actor;
}

function VersionDialog({ version, onBack }: { version: number; onBack: () => void }): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { data, error, refetch } = useQuery(versionQuery(clientId, version));
  const found = data && differences(data.before, data.after);
  return (
    <Dialog title={t('settings.what.of', { version })} isOpen onBack={onBack} action={null}>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading rows={3} />}
      {found?.length === 0 && <p>{t('settings.what.nothing')}</p>}
      {found && found.length > 0 && (
        <ul>
          {found.map((each) => (
            <li key={`${each.kind} ${JSON.stringify(each.values)}`}>
              <DifferenceText difference={each} />
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}

function DifferenceText({ difference: { kind, values } }: { difference: Difference }): ReactNode {
  const t = useText();
  const locale = useLocale();
  const { amount, currency } = values;
  const texts = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, isolated(value)]));
  const money = amount !== undefined && currency !== undefined ? formatMoney(amount, currency, locale) : '';
  return t(`settings.difference.${kind}`, { ...texts, money });
}
