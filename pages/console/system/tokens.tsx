import { type ReactNode, useState } from 'react';
import { type Answered, type BodyOf, callOperator } from '../../data/operator-api.ts';
import { Select, TextField } from '../../design/field.tsx';
import { visible } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Page } from '../../frame/page.tsx';
import { useText } from '../../texts/text.tsx';
import { Act } from '../acts/act.tsx';
import { FormFields } from '../acts/form-fields.tsx';
import type { FieldForm } from '../acts/form-values.ts';
import { TokenName } from '../lists/links.tsx';
import { Listing } from '../lists/listing.tsx';
import { useWord, useWords } from '../lists/words.ts';

type OperatorToken = Answered<'GET /operator-tokens'>[number];

const ROLES = ['core', 'identity', 'support', 'auditor', 'admin'] as const;
const MAX_NAME_LENGTH = 64;

/** The tokens with which programs use the operator interface. */
export default function TokensPage(): ReactNode {
  const t = useText();
  const word = useWord();
  const words = useWords('scopes');
  const [made, setMade] = useState<string>();
  const name = t('console.nav.tokens');
  return (
    <Page title={name} actions={<CreateToken onMade={setMade} />}>
      {made && (
        <section className="card stack tight">
          <p>{t('console.token.shown')}</p>
          <code>{made}</code>
        </section>
      )}
      <Listing
        name={name}
        operation="GET /operator-tokens"
        unpaged
        filters={[]}
        rowKey={({ id }) => id}
        columns={[
          { key: 'name', title: t('console.col.name'), cell: (row) => <TokenName>{row.name}</TokenName> },
          { key: 'role', title: t('console.col.role'), cell: ({ role }) => role && word(role) },
          { key: 'scopes', title: t('console.col.scopes'), cell: ({ scopes }) => words(scopes) },
          { key: 'created', title: t('console.col.created'), cell: (row) => <Moment at={row.created_at} /> },
          { key: 'expires', title: t('console.col.expires'), cell: (row) => <Moment at={row.expires_at} /> },
          { key: 'act', title: t('console.col.action'), cell: (row) => <Revoke token={row} /> },
        ]}
      />
    </Page>
  );
}

/** The scopes of a token, one by one. */
const SCOPES: FieldForm = {
  ...{ kind: 'choices', name: 'scopes', label: 'console.col.scopes' },
  options: ['read', 'feed', 'identity', 'approvals', 'redeliver', 'unlock', 'changes', 'audit', 'system'],
};

function CreateToken({ onMade }: { onMade: (token: string) => void }): ReactNode {
  const t = useText();
  return (
    <Act
      name={t('console.act.createToken')}
      scope="system"
      facts={[]}
      fields={<TokenFields />}
      act={async ({ headers, form }) => {
        const expires = String(form.get('expires_at') ?? '');
        const role = form.get('role');
        const body = {
          name: String(form.get('name') ?? ''),
          ...(role ? { role } : { scopes: form.getAll('scopes') }),
          ...(expires ? { expires_at: new Date(expires).toISOString() } : {}),
        };
        const answer = await callOperator('POST /operator-tokens', {
          body: body as BodyOf<'POST /operator-tokens'>,
          headers,
        });
        onMade(answer.body.token);
        return undefined;
      }}
    />
  );
}

/** Asks for a role or for single scopes. */
function TokenFields(): ReactNode {
  const t = useText();
  const word = useWord();
  const [role, setRole] = useState<string>(ROLES[0]);
  return (
    <>
      <TextField label={t('console.col.name')} name="name" required maxLength={MAX_NAME_LENGTH} autoComplete="off" />
      <Select
        label={t('console.col.role')}
        name="role"
        value={role}
        onChange={({ currentTarget }) => setRole(currentTarget.value)}
      >
        {ROLES.map((each) => (
          <option key={each} value={each}>
            {word(each)}
          </option>
        ))}
        <option value="">{t('console.token.scopes')}</option>
      </Select>
      {role === '' && <FormFields fields={[SCOPES]} values={{}} />}
      <TextField label={t('console.col.expires')} name="expires_at" type="datetime-local" />
    </>
  );
}

function Revoke({ token: { id, name, scopes } }: { token: OperatorToken }): ReactNode {
  const t = useText();
  const words = useWords('scopes');
  return (
    <Act
      name={t('console.act.revoke')}
      scope="system"
      kind="danger"
      facts={[
        { name: t('console.col.name'), value: visible(name) },
        { name: t('console.col.scopes'), value: words(scopes) },
      ]}
      act={async ({ headers }) => {
        await callOperator('DELETE /operator-tokens/{id}', { path: { id }, headers });
        return undefined;
      }}
    />
  );
}
