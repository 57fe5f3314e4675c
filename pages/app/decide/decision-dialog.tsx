import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useRef, useState } from 'react';
import { CallError } from '../../data/call-error.ts';
import { callClient } from '../../data/client-api.ts';
import { liveKey, type PaymentView } from '../../data/payments.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Facts } from '../../design/facts.tsx';
import { TextArea } from '../../design/field.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Day } from '../../design/moment.tsx';
import { Alert } from '../../design/notice.tsx';
import { useRefusal } from '../../design/refusal.ts';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { ExplainedMarks } from '../payments/marks.tsx';
import { Amount, PayeeAccount } from '../payments/payee.tsx';
import { OutcomeText } from './outcome.tsx';
import { approvalOf, type CodeState, useVerificationCode, VerificationCode } from './verification-code.tsx';
import './decision-dialog.css';

/** What a person decides about a payment. */
export type Decided = 'authorise' | 'reject' | 'cancel';

/** Characters of a reason. */
const MAX_REASON_LENGTH = 500;

interface DecisionDialogProps {
  view: PaymentView;
  action: Decided;
  onBack: () => void;
  /** Called when it is done; what is shown is fetched again. */
  onDone: (action: Decided) => void;
}

/**
 * Asks before a payment is approved, rejected or cancelled. It repeats the facts as they were when it opened. It reports what others do
 * meanwhile, but moves nothing.
 */
export function DecisionDialog({ view, action, onBack, onDone }: DecisionDialogProps): ReactNode {
  const t = useText();
  const form = useId();
  const { client_id: clientId, approval_step_up: stepUp } = useClient();
  const queries = useQueryClient();
  const [{ payment, marks }] = useState(view);
  const { payment_id: id } = payment;
  const [reason, setReason] = useState('');
  const [missing, setMissing] = useState(false);
  const reasonField = useRef<HTMLTextAreaElement>(null);
  const needsCode = stepUp && action === 'authorise';
  const code = useVerificationCode(approvalOf(clientId, [id]), needsCode);
  const decide = useMutation({
    mutationFn: () =>
      send(clientId, id, action, { reason: reason.trim() || undefined, ...(needsCode ? code.proof : {}) }),
    onSuccess: async () => {
      code.forget();
      await queries.invalidateQueries({ queryKey: liveKey(clientId) });
      onDone(action);
    },
    onError: () => void queries.invalidateQueries({ queryKey: liveKey(clientId) }),
  });
  // The latest state that the page knows: somebody else may have been faster.
  const isOpen = view.payment.approvals_workflow.contact_authorisation_actions.allowed.includes(action);
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    const without = action === 'reject' && reason.trim() === '';
    setMissing(without);
    if (without) reasonField.current?.focus();
    if (without || decide.isPending || !isOpen || (needsCode && !code.check())) return;
    decide.mutate();
  };
  return (
    <Dialog
      title={t(`decide.${action}.title`)}
      isOpen
      onBack={onBack}
      action={
        <Button
          kind={action === 'authorise' ? 'primary' : 'danger'}
          onPress={() => submit()}
          isPending={decide.isPending}
          isDisabled={!isOpen || code.isImpossible}
        >
          {t(`decide.${action}`)}
        </Button>
      }
    >
      <div className="decision-facts">
        <Facts
          facts={[
            { name: t('payments.field.amount'), value: <Amount payment={payment} /> },
            { name: t('payments.field.payee'), value: <ForeignText>{payment.beneficiary_name}</ForeignText> },
            { name: t('payments.field.account'), value: <PayeeAccount payment={payment} /> },
            { name: t('payments.field.payment_date'), value: <Day on={payment.payment_date} /> },
          ]}
        />
      </div>
      {action === 'authorise' && <ExplainedMarks marks={marks} />}
      <form id={form} className="stack" onSubmit={submit} noValidate>
        {needsCode && <VerificationCode code={code} refusal={decide.error} />}
        <TextArea
          ref={reasonField}
          autoFocus={action === 'reject'}
          label={t('decide.reason')}
          name="reason"
          hint={action === 'reject' ? t('decide.reason.needed') : t('decide.reason.optional')}
          required={action === 'reject'}
          maxLength={MAX_REASON_LENGTH}
          value={reason}
          error={missing ? t('decide.reason.missing') : undefined}
          onChange={({ target }) => setReason(target.value)}
        />
        <button type="submit" hidden tabIndex={-1} aria-hidden="true" />
      </form>
      {!isOpen && !decide.isSuccess && (
        <Alert>
          <OutcomeText outcome={view.way.outcome} />
        </Alert>
      )}
      {isOpen && decide.error && !code.explains(decide.error) && (
        <Alert>
          <Refusal error={decide.error} />
        </Alert>
      )}
    </Dialog>
  );
}

function send(
  clientId: string,
  id: string,
  action: Decided,
  body: { reason?: string | undefined } & Partial<CodeState['proof']>,
): Promise<unknown> {
  const path = { payment_id: id };
  if (action === 'cancel') return callClient('DELETE /payments/{payment_id}', clientId, { path, body: body as object });
  return callClient('PATCH /payments/{payment_id}', clientId, { path, query: { action }, body: body as object });
}

/** Why a decision was refused, if nothing else on the page says so. */
export function Refusal({ error }: { error: unknown }): ReactNode {
  const t = useText();
  const say = useRefusal();
  const code = error instanceof CallError ? error.code : 'unknown';
  if (code === 'connection_lost') return t('decide.refused.connection');
  if (code === 'permission_denied') return t('decide.refused.permission');
  if (code === 'rate_limited') return t('decide.refused.often');
  return error instanceof CallError ? say(error) : t('decide.refused.connection');
}
