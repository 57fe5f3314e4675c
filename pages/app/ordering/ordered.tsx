import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { type BulkOutcome, type Payment, paymentQuery, searchQuery } from '../../data/payments.ts';
import { Button } from '../../design/button.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Money } from '../../design/money.tsx';
import { Status } from '../../design/notice.tsx';
import { Failure } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { BulkDialog } from '../approvals/bulk-dialog.tsx';
import { BulkResult } from '../approvals/bulk-result.tsx';
import { useClient } from '../client.tsx';
import { DecisionDialog } from '../decide/decision-dialog.tsx';
import { PaymentLink } from '../payments/payment-link.tsx';
import { PaymentStatus } from '../payments/status.tsx';
import type { OrderedIds } from './use-order.ts';

/** The result of an order: its payments, and the code that they wait for if the client requires one. */
export function Ordered({ made, onAgain }: { made: OrderedIds; onAgain: () => void }): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const ids = made.map(({ id }) => id);
  const { data, error, refetch } = useQuery(
    searchQuery(clientId, { payment_ids: ids.join(','), page_size: String(ids.length) }),
  );
  const payments = new Map((data?.rows ?? []).map((payment) => [payment.payment_id, payment]));
  return (
    <>
      <Status>{t('order.made', { count: made.length })}</Status>
      {data && <OwnApproval payments={data.rows} onDone={() => void refetch()} />}
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      <section className="card stack" aria-label={t('payments.table')}>
        <ul className="plain stack tight">
          {made.map(({ id, warning }) => (
            <li key={id} className="row">
              <PaymentLink id={id} />
              <Made payment={payments.get(id)} />
              {warning && <span className="small">{warning}</span>}
            </li>
          ))}
        </ul>
      </section>
      <div className="row">
        <Button onPress={onAgain}>{t('order.again')}</Button>
        <Link to={'/payments' as never}>{t('order.all')}</Link>
      </div>
    </>
  );
}

/** How much goes to whom, and what it waits for. */
function Made({ payment }: { payment: Payment | undefined }): ReactNode {
  if (!payment) return null;
  const { payment_currency: currency, beneficiary_name: payee, status } = payment;
  return (
    <>
      <strong>
        <Money amount={decimal(payment, 'amount')} currency={currency} />
      </strong>
      <ForeignText>{payee}</ForeignText>
      <PaymentStatus status={status} />
    </>
  );
}

/** What the person approves with one code. The client requires it, and the order is incomplete without it. */
function OwnApproval({ payments, onDone }: { payments: Payment[]; onDone: () => void }): ReactNode {
  const t = useText();
  const { client_id: clientId, approval_step_up: needsCode } = useClient();
  // The payments that were waiting when the page first saw them: none leaves the dialog while the person reads.
  const [waiting] = useState(() =>
    payments.filter((each) => each.approvals_workflow.contact_authorisation_actions.allowed.includes('authorise')),
  );
  const [isOpen, setOpen] = useState(needsCode && waiting.length > 0);
  const [outcome, setOutcome] = useState<BulkOutcome | string>();
  const [only] = waiting;
  const isOne = waiting.length === 1 && only !== undefined;
  const { data: view } = useQuery({ ...paymentQuery(clientId, only?.payment_id ?? ''), enabled: isOpen && isOne });
  const back = () => setOpen(false);
  const finish = (said: BulkOutcome | string) => {
    back();
    setOutcome(said);
    onDone();
  };
  if (!needsCode || waiting.length === 0) return null;
  return (
    <>
      <BulkResult outcome={outcome} />
      {!isOpen && outcome === undefined && (
        <div className="notice warn row apart">
          <p>{t('order.waits', { count: waiting.length })}</p>
          <Button kind="primary" onPress={() => setOpen(true)}>
            {t('payments.act.authorise')}
          </Button>
        </div>
      )}
      {isOpen && isOne && view && (
        <DecisionDialog
          view={view}
          action="authorise"
          onBack={back}
          onDone={() => finish(t('approvals.result', { approved: 1, failed: 0 }))}
        />
      )}
      {isOpen && !isOne && <BulkDialog payments={waiting} onBack={back} onDone={finish} />}
    </>
  );
}
