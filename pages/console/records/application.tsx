import type { ReactNode } from 'react';
import { callOperator } from '../../data/operator-api.ts';
import { Facts } from '../../design/facts.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { useText } from '../../texts/text.tsx';
import { IdLink, State } from '../lists/links.tsx';
import { ApplicationActs } from './application-acts.tsx';
import { OneRecord } from './one-record.tsx';

/** An application: its redirect addresses, the clients that it may act for, and its secret. */
export default function ApplicationPage(): ReactNode {
  const t = useText();
  const lines = (texts: readonly string[]) =>
    texts.length > 0 &&
    texts.map((text) => (
      <div key={text}>
        <ForeignText>{text}</ForeignText>
      </div>
    ));
  const yes = (flag: boolean) => t(flag ? 'console.yes' : 'console.no');
  return (
    <OneRecord
      kind="application"
      title="console.app.title"
      read={async (id, signal) =>
        (await callOperator('GET /applications/{client_id}', { path: { client_id: id }, signal })).body
      }
      actions={(application) => <ApplicationActs application={application} />}
    >
      {(application) => (
        <section className="card">
          <Facts
            facts={[
              { name: t('console.col.name'), value: <ForeignText>{application.name}</ForeignText> },
              { name: t('console.col.status'), value: <State>{application.status}</State> },
              { name: t('console.app.redirects'), value: lines(application.redirect_uris) || null },
              { name: t('console.app.logout'), value: lines(application.post_logout_redirect_uris) || null },
              { name: t('console.app.refresh'), value: application.refresh_token_days },
              { name: t('console.app.headless'), value: yes(application.headless_sign_in) },
              { name: t('console.app.pkce'), value: yes(application.require_pkce) },
              {
                name: t('console.app.trusted'),
                value:
                  application.trusted_clients.length > 0 ? (
                    <span className="row">
                      {application.trusted_clients.map((id) => (
                        <IdLink key={id} to="clients" id={id} />
                      ))}
                    </span>
                  ) : null,
              },
              { name: t('console.app.subjects'), value: lines(application.certificate_subjects) || null },
            ]}
          />
        </section>
      )}
    </OneRecord>
  );
}
