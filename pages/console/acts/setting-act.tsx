import type { ReactNode } from 'react';
import { useText } from '../../texts/text.tsx';
import type { Scope } from '../staff.ts';
import { Act, type ActProps, type Given } from './act.tsx';
import { FormFields } from './form-fields.tsx';
import { changedValues, type FieldForm, givenValues, valuesOf } from './form-values.ts';

interface SettingActProps {
  name: string;
  scope: Scope;
  kind?: ActProps['kind'];
  facts: ActProps['facts'];
  fields: readonly FieldForm[];
  /** The current values. */
  values: object;
  /** `change` sends what differs, `create` what is filled in, and `replace` everything. */
  sends: 'change' | 'create' | 'replace';
  save: (body: Record<string, unknown>, given: Given) => Promise<unknown>;
}

/** An act that changes a record with a form. */
export function SettingAct({ name, scope, kind, facts, fields, values, sends, save }: SettingActProps): ReactNode {
  const t = useText();
  return (
    <Act
      name={name}
      scope={scope}
      {...(kind ? { kind } : {})}
      facts={facts}
      fields={<FormFields fields={fields} values={values} />}
      act={async (given) => {
        const filled = valuesOf(given.form, fields);
        const body = {
          change: () => changedValues(filled, values),
          create: () => givenValues(filled),
          replace: () => filled,
        }[sends]();
        if (sends === 'change' && Object.keys(body).length === 0) return t('console.act.unchanged');
        await save(body, given);
        return undefined;
      }}
    />
  );
}
