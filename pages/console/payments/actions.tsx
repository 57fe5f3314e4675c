import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { allowedMoves, type PaymentAction } from '../../../src/payments/moves.ts';
import { type Answered, callOperator } from '../../data/operator-api.ts';
import { Select } from '../../design/field.tsx';
import { ForeignText, visible } from '../../design/foreign-text.tsx';
import { Iban } from '../../design/iban.tsx';
import { Money } from '../../design/money.tsx';
import { useText } from '../../texts/text.tsx';
import { Act } from '../acts/act.tsx';
import { useMay } from '../staff.ts';

type Payment = Answered<'GET /payments/{payment_id}'>;

const OF_A_PERSON: readonly PaymentAction[] = ['authorise', 'reject'];
const DANGEROUS: readonly PaymentAction[] = ['reject', 'cancel', 'invalidate', 'return'];

/** What the institution may do with a payment now. @param isReturning its return has started */
export function PaymentActions({ payment, isReturning }: { payment: Payment; isReturning: boolean }): ReactNode {
  const may = useMay();
  const standing = { status: payment.status, returnStarted: isReturning };
  const actions = allowedMoves(standing).filter((action) => may(OF_A_PERSON.includes(action) ? 'approvals' : 'feed'));
  return actions.map((action) => <PaymentAct key={action} action={action} payment={payment} />);
}

function PaymentAct({ action, payment }: { action: PaymentAction; payment: Payment }): ReactNode {
  const t = useText();
  const forPerson = OF_A_PERSON.includes(action);
  const { payment_id: id, beneficiary_name: payee, iban, account_number: account } = payment;
  return (
    <Act
      name={t(`console.pay.${action}`)}
      scope={forPerson ? 'approvals' : 'feed'}
      kind={DANGEROUS.includes(action) ? 'danger' : 'second'}
      facts={[
        { name: t('console.col.payment'), value: id },
        {
          name: t('console.col.amount'),
          value: <Money amount={decimal(payment, 'amount')} currency={payment.payment_currency} />,
        },
        { name: t('console.col.payee'), value: payee && <ForeignText>{payee}</ForeignText> },
        { name: t('console.col.iban'), value: iban ? <Iban>{iban}</Iban> : <ForeignText>{account}</ForeignText> },
      ]}
      fields={forPerson && <Person clientId={payment.client_id} />}
      act={async ({ headers, reason, form }) => {
        const contact = form.get('contact_id');
        await callOperator('POST /payments/{payment_id}/actions', {
          path: { payment_id: id },
          body: { action, reason, ...(contact ? { contact_id: String(contact) } : {}) },
          headers,
        });
        return undefined;
      }}
    />
  );
}

/** The contact in whose name the institution decides. */
function Person({ clientId }: { clientId: string }): ReactNode {
  const t = useText();
  const { data = [] } = useQuery({
    queryKey: ['GET /contacts', clientId, 'all'],
    queryFn: async ({ signal }) =>
      (await callOperator('GET /contacts', { query: { client_id: clientId, page_size: 1_000 }, signal })).body,
  });
  return (
    <Select label={t('console.pay.onBehalf')} name="contact_id" hint={t('console.pay.onBehalf.hint')}>
      {data.map(({ contact_id: id, name }) => (
        <option key={id} value={id}>
          {visible(name)} ({id})
        </option>
      ))}
    </Select>
  );
}
