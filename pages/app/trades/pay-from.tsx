import { useQuery } from '@tanstack/react-query';
import type { ComponentProps, ReactNode } from 'react';
import { accountsQuery } from '../../data/accounts.ts';
import { Select } from '../../design/field.tsx';
import { formatMoney } from '../../design/money.tsx';
import { useLocale, useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { Available } from '../ordering/source-select.tsx';

/** Where the money for a trade comes from: an account in the sold currency with its available amount, or a transfer from elsewhere. */
export function PayFrom({
  currency,
  ...field
}: Omit<ComponentProps<typeof Select>, 'label'> & { currency: string }): ReactNode {
  const t = useText();
  const locale = useLocale();
  const { client_id: clientId } = useClient();
  const { data } = useQuery(accountsQuery(clientId));
  const accounts = data?.balances.filter((account) => account.currency === currency) ?? [];
  const chosen = accounts.find(({ account_id: id }) => String(id) === field.value);
  return (
    <Select
      {...field}
      name="funding_account_id"
      label={t('trades.payFrom')}
      hint={chosen ? <Available of={chosen} /> : field.hint}
    >
      <option value="">{t('trades.payFrom.transfer')}</option>
      {accounts.map(({ account_id: id, available }) => (
        <option key={id} value={id}>
          {t('trades.payFrom.account', { id: String(id), available: formatMoney(available, currency, locale) })}
        </option>
      ))}
    </Select>
  );
}
