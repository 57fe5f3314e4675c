import { type ReactNode, useState } from 'react';
import { type Answered, type BodyOf, callOperator } from '../../data/operator-api.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { useText } from '../../texts/text.tsx';
import { Act } from '../acts/act.tsx';
import { FormFields } from '../acts/form-fields.tsx';
import { type FieldForm, givenValues, valuesOf } from '../acts/form-values.ts';
import { SettingAct } from '../acts/setting-act.tsx';

type Application = Answered<'GET /applications/{client_id}'>;

const APPLICATION_FIELDS: readonly FieldForm[] = [
  { kind: 'text', name: 'name', label: 'console.col.name', required: true },
  { kind: 'lines', name: 'redirect_uris', label: 'console.app.redirects', hint: 'console.app.redirects.hint' },
  { kind: 'lines', name: 'post_logout_redirect_uris', label: 'console.app.logout', hint: 'console.form.lines' },
  { kind: 'whole', name: 'refresh_token_days', label: 'console.app.refresh' },
  { kind: 'flag', name: 'headless_sign_in', label: 'console.app.headless' },
  { kind: 'flag', name: 'require_pkce', label: 'console.app.pkce' },
  { kind: 'lines', name: 'trusted_clients', label: 'console.app.trusted', hint: 'console.app.trusted.hint' },
  { kind: 'lines', name: 'certificate_subjects', label: 'console.app.subjects', hint: 'console.form.lines' },
];
const NEW = { refresh_token_days: 28, headless_sign_in: true };

/** A secret that is shown once: the person who made it copies it now. */
function ShownSecret({ name, secret }: { name: string; secret: string }): ReactNode {
  const t = useText();
  return (
    <section className="card stack tight" aria-label={name}>
      <p>{t('console.app.secret.shown')}</p>
      <code>{secret}</code>
    </section>
  );
}

/** Registers an application, and shows its secret. @param trusted the client it is for */
export function NewApplication({ trusted }: { trusted?: string }): ReactNode {
  const t = useText();
  const [made, setMade] = useState<{ id: string; secret: string }>();
  return (
    <>
      <SettingAct
        name={t('console.new.application')}
        scope="identity"
        facts={[]}
        fields={APPLICATION_FIELDS}
        values={trusted === undefined ? NEW : { ...NEW, trusted_clients: [trusted] }}
        sends="create"
        save={async (body, { headers }) => {
          const answer = await callOperator('POST /applications', {
            body: body as BodyOf<'POST /applications'>,
            headers,
          });
          setMade({ id: answer.body.client_id, secret: answer.body.client_secret });
        }}
      />
      {made && <ShownSecret name={made.id} secret={`${made.id} ${made.secret}`} />}
    </>
  );
}

/** The acts on an application. */
export function ApplicationActs({ application }: { application: Application }): ReactNode {
  const t = useText();
  const [secret, setSecret] = useState<string>();
  const { client_id: id, name, status, public_client: isPublic } = application;
  const path = { client_id: id };
  const facts = [
    { name: t('console.col.application'), value: id },
    { name: t('console.col.name'), value: <ForeignText>{name}</ForeignText> },
  ];
  const enabled = status === 'enabled';
  const patch = (body: BodyOf<'PATCH /applications/{client_id}'>, headers: Record<string, string>) =>
    callOperator('PATCH /applications/{client_id}', { path, body, headers });
  return (
    <>
      <SettingAct
        name={t('console.act.change')}
        scope="identity"
        facts={facts}
        fields={APPLICATION_FIELDS}
        values={application}
        sends="change"
        save={(body, { headers }) => patch(body, headers)}
      />
      {!isPublic && (
        <Act
          name={t('console.app.newSecret')}
          scope="identity"
          facts={facts}
          fields={<FormFields fields={SECRET_FIELDS} values={{ overlap_seconds: 3_600 }} />}
          act={async ({ headers, form }) => {
            const body = givenValues(valuesOf(form, SECRET_FIELDS));
            const answer = await callOperator('POST /applications/{client_id}/secret', { path, body, headers });
            setSecret(answer.body.client_secret);
            return undefined;
          }}
        />
      )}
      <Act
        name={t(enabled ? 'console.act.disable' : 'console.act.enable')}
        scope="identity"
        kind={enabled ? 'danger' : 'second'}
        facts={facts}
        act={async ({ headers }) => {
          await patch({ status: enabled ? 'disabled' : 'enabled' }, headers);
          return undefined;
        }}
      />
      {secret && <ShownSecret name={t('console.app.newSecret')} secret={secret} />}
    </>
  );
}

const SECRET_FIELDS: readonly FieldForm[] = [{ kind: 'whole', name: 'overlap_seconds', label: 'console.app.overlap' }];
