import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { findNamed } from '../../data/find.ts';
import type { SearchTexts } from '../../data/payments.ts';
import { type Find, Finder } from '../../design/finder.tsx';
import { ForeignText, isolated } from '../../design/foreign-text.tsx';
import { Money } from '../../design/money.tsx';
import { usePause } from '../../design/pause.ts';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { useFindGroups } from '../find-groups.ts';

/** Maximum characters of a reference. */
const MAX_TEXT_LENGTH = 140;
const MIN_TEXT_LENGTH = 2;

interface FindFieldProps {
  value: string;
  onChange: (text: string) => void;
  /** Called when the person chooses a filter. */
  onFilter: (filter: SearchTexts) => void;
}

/** The single search field for an id, a reference, an amount or a payee. It shows its finds, and Enter takes the best match. */
export function FindField({ value, onChange, onFilter }: FindFieldProps): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const navigate = useNavigate();
  const sought = usePause(value.trim());
  const isSought = sought.length >= MIN_TEXT_LENGTH && value.trim() !== '';
  const { data } = useQuery({
    queryKey: ['find', clientId, sought],
    queryFn: ({ signal }) => findNamed(clientId, sought, signal),
    enabled: isSought,
    placeholderData: keepPreviousData,
  });
  const filter = (texts: SearchTexts) => () => {
    onChange('');
    onFilter(texts);
  };
  const groupsOf = useFindGroups();
  const groups = data && groupsOf(data);
  const finds: Find[] = [
    ...(data?.payments ?? []).map(
      ({ payment_id: id, amount, payment_currency: currency, beneficiary_name: payee }): Find => ({
        key: id,
        icon: 'send',
        title: id,
        detail: (
          <>
            <Money amount={amount} currency={currency} /> · <ForeignText>{payee}</ForeignText>
          </>
        ),
        group: groups?.payments ?? '',
        choose: () => void navigate({ to: `/payments/${encodeURIComponent(id)}` as never }),
      }),
    ),
    ...(data?.payees ?? []).map(
      ({ beneficiary_id: id, beneficiary_name: name, currency, account }): Find => ({
        key: id,
        icon: 'users',
        title: <ForeignText>{name}</ForeignText>,
        detail: (
          <>
            {currency} {account && <ForeignText>{`…${account}`}</ForeignText>}
          </>
        ),
        group: groups?.payees ?? '',
        choose: filter({ beneficiary_id: id }),
      }),
    ),
    {
      key: 'reference',
      icon: 'search',
      title: t('payments.find.reference', { text: isolated(sought) }),
      group: t('payments.find.others'),
      choose: filter({ reference: sought }),
    },
  ];
  return (
    <Finder
      label={t('payments.find')}
      placeholder={t('payments.find.hint')}
      value={value}
      onChange={onChange}
      finds={isSought ? finds : []}
      maxLength={MAX_TEXT_LENGTH}
    />
  );
}
