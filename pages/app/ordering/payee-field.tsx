import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { PAYEES_OFFERED, type PayablePayee, payeesByUseQuery } from '../../data/ordering.ts';
import { type Find, Finder } from '../../design/finder.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { usePause } from '../../design/pause.ts';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';

interface PayeeFieldProps {
  payee: PayablePayee | undefined;
  error: string | undefined;
  onChoose: (payee: PayablePayee | undefined) => void;
}

/** The last characters of the account, which tell payees with the same name apart. */
const TAIL = -4;

/** The payee of a payment, found by typing; recently used ones come first. */
export function PayeeField({ payee, error, onChoose }: PayeeFieldProps): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const [text, setText] = useState('');
  const sought = usePause(text.trim());
  const { data = [], isPlaceholderData } = useQuery(payeesByUseQuery(clientId, sought));
  const found = t('order.payee.found');
  const isMore = data.length > PAYEES_OFFERED;
  const foundGroup = isMore ? t('app.find.more', { what: found, count: PAYEES_OFFERED }) : found;
  const finds = data.slice(0, PAYEES_OFFERED).map((each): Find => {
    const account = (each.iban ?? each.account_number)?.slice(TAIL);
    return {
      key: each.beneficiary_id,
      icon: 'users',
      title: <ForeignText>{each.name}</ForeignText>,
      detail: [each.currency, account && `…${account}`].filter(Boolean).join(' · '),
      group: sought === '' ? t('order.payee.used') : foundGroup,
      choose: () => {
        setText('');
        onChoose(each);
      },
    };
  });
  const isNone = payee === undefined && sought !== '' && data.length === 0 && !isPlaceholderData;
  return (
    <Finder
      label={t('payments.field.payee')}
      name="payee"
      placeholder={t('order.payee.find')}
      value={payee?.name ?? text}
      onChange={(typed) => {
        setText(typed);
        if (payee) onChoose(undefined);
      }}
      finds={finds}
      none={isNone ? t('payees.noneFound') : undefined}
      isEager
      // What was found for another text is not chosen.
      isPending={isPlaceholderData || sought !== text.trim()}
      field={{ error }}
      maxLength={140}
    />
  );
}
