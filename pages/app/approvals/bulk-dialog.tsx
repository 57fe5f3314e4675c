import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { approveAll, type BulkOutcome, liveKey, type Payment } from '../../data/payments.ts';
import { sumsOf } from '../../data/sums.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Facts } from '../../design/facts.tsx';
import { TextArea } from '../../design/field.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Money } from '../../design/money.tsx';
import { Alert } from '../../design/notice.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { Refusal } from '../decide/decision-dialog.tsx';
import { approvalOf, useVerificationCode, VerificationCode } from '../decide/verification-code.tsx';
import { AccountNumber } from '../payments/payee.tsx';
import './bulk-dialog.css';

/** Characters of a reason. */
const MAX_REASON_LENGTH = 500;

interface BulkDialogProps {
  /** The payments as they were selected: nothing is added or removed while the person reads. */
  payments: Payment[];
  onBack: () => void;
  onDone: (outcome: BulkOutcome) => void;
}

/** Asks before several payments are approved: how many, their sums in each currency, and their payees. */
export function BulkDialog({ payments, onBack, onDone }: BulkDialogProps): ReactNode {
  const t = useText();
  const { client_id: clientId, approval_step_up: needsCode } = useClient();
  const queries = useQueryClient();
  const [reason, setReason] = useState('');
  const count = payments.length;
  const ids = payments.map(({ payment_id: id }) => id);
  const code = useVerificationCode(approvalOf(clientId, ids), needsCode);
  const approve = useMutation({
    mutationFn: () =>
      approveAll(clientId, {
        payment_ids: ids,
        reason: reason.trim() || undefined,
        ...(needsCode ? code.proof : {}),
      }),
    onSuccess: (outcome) => {
      code.forget();
      onDone(outcome);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: liveKey(clientId) }),
  });
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (!approve.isPending && (!needsCode || code.check())) approve.mutate();
  };
  return (
    <Dialog
      title={t('approvals.bulk.title', { count })}
      isOpen
      onBack={onBack}
      action={
        <Button kind="primary" onPress={() => submit()} isPending={approve.isPending} isDisabled={code.isImpossible}>
          {t('approvals.bulk.approve', { count })}
        </Button>
      }
    >
      <Facts
        facts={sumsOf(payments).map(({ currency, count: own, amount }) => ({
          name: t('approvals.bulk.sum', { count: own, currency }),
          value: (
            <strong>
              <Money amount={amount} currency={currency} />
            </strong>
          ),
        }))}
      />
      <Payees payments={payments} />
      <form className="stack" onSubmit={submit} noValidate>
        {needsCode && <VerificationCode code={code} refusal={approve.error} count={count} />}
        <TextArea
          label={t('decide.reason')}
          name="reason"
          hint={t('decide.reason.optional')}
          maxLength={MAX_REASON_LENGTH}
          value={reason}
          onChange={({ target }) => setReason(target.value)}
        />
        <button type="submit" hidden tabIndex={-1} aria-hidden="true" />
      </form>
      {approve.error && !code.explains(approve.error) && (
        <Alert>
          <Refusal error={approve.error} />
        </Alert>
      )}
    </Dialog>
  );
}

/** Each payee with its account, listed once. A long list scrolls, so that the reason and the buttons stay in sight. */
function Payees({ payments }: Pick<BulkDialogProps, 'payments'>): ReactNode {
  const t = useText();
  const title = useId();
  const payees = new Map(
    payments.map((each) => [`${each.iban ?? each.account_number} ${each.beneficiary_name}`, each]),
  );
  return (
    <div className="stack tight">
      <p className="small quiet" id={title}>
        {t('approvals.bulk.payees', { count: payees.size })}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it too */}
      <ul className="plain bulk-payees" aria-labelledby={title} tabIndex={0}>
        {[...payees].map(([key, payment]) => (
          <li key={key}>
            <ForeignText>{payment.beneficiary_name}</ForeignText>{' '}
            <span className="small quiet">
              <AccountNumber payment={payment} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
