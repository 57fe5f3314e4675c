import type { ReactNode } from 'react';
import { type Answered, type BodyOf, callOperator } from '../../data/operator-api.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { useText } from '../../texts/text.tsx';
import { Act } from '../acts/act.tsx';
import { givenValues } from '../acts/form-values.ts';
import { SettingAct } from '../acts/setting-act.tsx';
import {
  APPROVAL_FIELDS,
  CLIENT_FIELDS,
  CONTACT_FIELDS,
  LIMIT_FIELDS,
  ONBOARDING_FIELDS,
  PERMISSIONS_FIELD,
  PRICING_FIELDS,
  USUAL_PERMISSIONS,
} from './fields.ts';

export type Client = Answered<'GET /clients/{client_id}'>;
export type Pricing = Answered<'GET /clients/{client_id}/pricing'>;
type Headers = Record<string, string>;

function useFacts({ client_id: id, client_name: name }: Client) {
  const t = useText();
  return [
    { name: t('console.col.client'), value: id },
    { name: t('console.col.name'), value: <ForeignText>{name}</ForeignText> },
  ];
}

const patch = (id: string, body: Record<string, unknown>, headers: Headers) =>
  callOperator('PATCH /clients/{client_id}', {
    path: { client_id: id },
    body: body as BodyOf<'PATCH /clients/{client_id}'>,
    headers,
  });

/** The acts on the client record itself. */
export function ClientActs({ client }: { client: Client }): ReactNode {
  const t = useText();
  const facts = useFacts(client);
  const { client_id: id, status } = client;
  const enabled = status === 'enabled';
  return (
    <>
      <SettingAct
        name={t('console.act.change')}
        scope="feed"
        facts={facts}
        fields={CLIENT_FIELDS}
        values={client}
        sends="change"
        save={(body, { headers }) => patch(id, body, headers)}
      />
      <SettingAct
        name={t('console.act.setApprovals')}
        scope="approvals"
        facts={facts}
        fields={APPROVAL_FIELDS}
        values={client}
        sends="change"
        save={(body, { headers }) => patch(id, body, headers)}
      />
      <SettingAct
        name={t('console.act.onboarding')}
        scope="feed"
        facts={facts}
        fields={ONBOARDING_FIELDS}
        values={{}}
        sends="replace"
        save={(body, { headers }) =>
          callOperator('POST /onboarding-events', {
            body: { client_id: id, ...body } as BodyOf<'POST /onboarding-events'>,
            headers,
          })
        }
      />
      <Act
        name={t(enabled ? 'console.act.disable' : 'console.act.enable')}
        scope="feed"
        kind={enabled ? 'danger' : 'second'}
        facts={facts}
        act={async ({ headers }) => {
          await patch(id, { status: enabled ? 'disabled' : 'enabled' }, headers);
          return undefined;
        }}
      />
    </>
  );
}

/** Sets what the contacts of a client may order in a day. An empty amount means no limit. */
export function LimitAct({ client }: { client: Client }): ReactNode {
  const t = useText();
  const { client_id: id, daily_payment_limit: limit } = client;
  return (
    <SettingAct
      name={t('console.act.setLimit')}
      scope="approvals"
      facts={useFacts(client)}
      fields={LIMIT_FIELDS}
      values={limit ?? { currency: 'GBP' }}
      sends="replace"
      save={(body, { headers }) => patch(id, { daily_payment_limit: body.amount === null ? null : body }, headers)}
    />
  );
}

/** Sets a client's pricing and its currencies. Without any currency, it may use all of them. */
export function PricingAct({ client, pricing }: { client: Client; pricing: Pricing }): ReactNode {
  const t = useText();
  const { client_id: id } = client;
  return (
    <SettingAct
      name={t('console.act.setPricing')}
      scope="feed"
      facts={useFacts(client)}
      fields={PRICING_FIELDS}
      values={pricing}
      sends="replace"
      save={(body, { headers }) => {
        const { currencies, ...rest } = givenValues(body);
        const some = (currencies as unknown[]).length > 0 ? { currencies } : {};
        return callOperator('PUT /clients/{client_id}/pricing', {
          path: { client_id: id },
          body: { ...rest, ...some } as BodyOf<'PUT /clients/{client_id}/pricing'>,
          headers,
        });
      }}
    />
  );
}

/** Creates a contact of a client. */
export function NewContact({ client }: { client: Client }): ReactNode {
  const t = useText();
  const { client_id: id } = client;
  return (
    <SettingAct
      name={t('console.new.contact')}
      scope="identity"
      facts={useFacts(client)}
      fields={[...CONTACT_FIELDS, PERMISSIONS_FIELD]}
      values={{ second_factor: 'none', permissions: USUAL_PERMISSIONS }}
      sends="create"
      save={({ permissions, ...contact }, { headers }) =>
        callOperator('POST /contacts', {
          body: { ...contact, clients: [{ client_id: id, permissions }] } as BodyOf<'POST /contacts'>,
          headers,
        })
      }
    />
  );
}
