import type { ReactNode } from 'react';
import { type BodyOf, callOperator } from '../../data/operator-api.ts';
import { useText } from '../../texts/text.tsx';
import { Act, type Given } from '../acts/act.tsx';
import { FormFields } from '../acts/form-fields.tsx';
import { type FieldForm, valuesOf } from '../acts/form-values.ts';

const FIELDS: readonly FieldForm[] = [
  { kind: 'lines', name: 'currencies', label: 'console.currencies.title', hint: 'console.new.accounts.lines' },
];

/**
 * Opens currency accounts of a client, one for each currency.
 * @param chosen the currencies that the form begins with
 */
export function OpenAccounts({ clientId, chosen = [] }: { clientId: string; chosen?: readonly string[] }): ReactNode {
  const t = useText();
  return (
    <Act
      name={t('console.new.accounts')}
      scope="feed"
      facts={[{ name: t('console.col.client'), value: clientId }]}
      fields={<FormFields fields={FIELDS} values={{ currencies: chosen }} />}
      act={async (given) => {
        const { currencies } = valuesOf(given.form, FIELDS) as { currencies: string[] };
        const opened = await open(clientId, currencies, given);
        return opened.length === 0
          ? t('console.act.unchanged')
          : t('console.new.accounts.opened', { count: opened.length, currencies: opened.join(', ') });
      }}
    />
  );
}

/** Passes over currencies that have an account, so that it can be repeated after a refusal. @returns the currencies that got one */
async function open(clientId: string, currencies: readonly string[], { headers }: Given): Promise<string[]> {
  const { body } = await callOperator('GET /currency-accounts', { query: { client_id: clientId } });
  const known = new Set(body.map(({ currency }) => currency));
  const wanted = new Set(currencies.map((each) => each.toUpperCase()));
  const missing = [...wanted].filter((each) => !known.has(each));
  for (const currency of missing) {
    const account = { client_id: clientId, currency } as BodyOf<'POST /currency-accounts'>;
    await callOperator('POST /currency-accounts', { body: account, headers });
  }
  return missing;
}
