import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import type { Payment } from '../../../sdk/src/generated/api.ts';
import { paymentsQuery } from '../../data/documents.ts';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { Empty } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { DocumentRow } from '../document.tsx';
import { DocumentList } from './document-list.tsx';

/** The documents of payments, the newest payment first. */
export function PaymentDocuments(): ReactNode {
  const t = useText();
  return (
    <DocumentList
      label={t('documents.find')}
      query={paymentsQuery}
      empty={<Empty title={t('documents.none')}>{t('documents.none.text')}</Empty>}
      line={(payment) => <PaymentLine key={payment.payment_id} payment={payment} />}
    />
  );
}

function PaymentLine({ payment }: { payment: Payment }): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { payment_id: id, beneficiary_name: payee, payment_currency: currency, created_date: created } = payment;
  const kinds = ['pi', ...(payment.payment_receipt ? ['pr'] : [])] as ('pi' | 'pr')[];
  return (
    <DocumentRow
      {...{ clientId, id }}
      of={`${t('documents.payment')} ${id}`}
      kinds={kinds.map((kind) => ({ kind, title: t(`documents.${kind}`) }))}
    >
      <span>
        <Link to="/payments/$payment_id" params={{ payment_id: id } as never}>
          {id}
        </Link>
      </span>
      <span>
        <ForeignText>{payee}</ForeignText>
        {payment.reference && (
          <span className="small quiet">
            {' · '}
            <ForeignText>{payment.reference}</ForeignText>
          </span>
        )}
      </span>
      <span className="money-cell">
        <Money amount={decimal(payment, 'amount')} currency={currency} />
      </span>
      <Moment at={created} isDay />
    </DocumentRow>
  );
}
