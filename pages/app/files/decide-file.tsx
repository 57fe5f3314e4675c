import { type FormEvent, type ReactNode, useState } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { readAmount } from '../../data/amount.ts';
import { CallError } from '../../data/call-error.ts';
import { confirmFile, discardFile, filesKey, openFileChallenge, type ShownFile } from '../../data/files.ts';
import type { Proof } from '../../data/payments.ts';
import { useSession } from '../../data/session.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Facts } from '../../design/facts.tsx';
import { TextField } from '../../design/field.tsx';
import { Money } from '../../design/money.tsx';
import { Alert, Status } from '../../design/notice.tsx';
import { Failure } from '../../design/states.tsx';
import { useLocale, useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';
import { Refusal } from '../decide/decision-dialog.tsx';
import { useVerificationCode, VerificationCode } from '../decide/verification-code.tsx';

/** What the person may do with a waiting file: confirm it, with a limit on the cost of its exchanges, or discard it. */
export function DecideFile({ view }: { view: ShownFile }): ReactNode {
  const t = useText();
  const locale = useLocale();
  const { contact_id: contactId } = useSession();
  const { client_id: clientId, permissions, approval_step_up: needsCode } = useClient();
  const { file } = view;
  const [most, setMost] = useState('');
  const [isFaulty, setFaulty] = useState(false);
  const [isAsked, setAsked] = useState(false);
  const [done, setDone] = useState('');
  const act = useConfirmation(file.mass_payment_id, () => setDone(t('files.confirmed')));
  const discarding = useAct(() => discardFile(clientId, file.mass_payment_id), [filesKey(clientId)]);
  const isOwn = file.created_by === contactId;
  const mayDecide = permissions.includes('can_create_payments') && permissions.includes('can_manage_multipayments');
  const isReady = file.mass_payment_status === 'Processed';
  const limit = most.trim() === '' ? '' : readAmount(most, locale);
  const confirm = (event?: FormEvent) => {
    event?.preventDefault();
    setFaulty(limit === undefined);
    if (limit === undefined || act.isPending) return;
    if (needsCode) setAsked(true);
    else act.confirm({ most: limit, proof: undefined });
  };
  const discard = () => discarding.mutate(undefined, { onSuccess: () => setDone(t('files.discarded')) });
  const isDiscardable = isReady || file.mass_payment_status === 'Queued for creating';
  return (
    <>
      <Status>{done}</Status>
      {mayDecide && isDiscardable && (
        <form className="card stack" onSubmit={confirm} noValidate>
          {isReady && (
            <div className="fields">
              <TextField
                label={t('files.most')}
                name="maximum_sell_amount"
                hint={t('files.most.hint', { currency: file.sell_currency ?? '–' })}
                inputMode="decimal"
                autoComplete="off"
                maxLength={40}
                value={most}
                error={isFaulty ? t('trades.fault.amount') : undefined}
                onChange={({ target }) => setMost(target.value)}
              />
            </div>
          )}
          {isReady && needsCode && !isOwn && <p>{t('files.notYours')}</p>}
          <div className="row">
            {isReady && (
              <Button kind="primary" type="submit" isPending={act.isPending} isDisabled={needsCode && !isOwn}>
                {t('files.confirm')}
              </Button>
            )}
            <Button kind="danger" isPending={discarding.isPending} onPress={discard}>
              {t('files.discard')}
            </Button>
          </div>
          {(act.error ?? discarding.error) && !isAsked && <Failure error={act.error ?? discarding.error} />}
        </form>
      )}
      {isAsked && isReady && (
        <ConfirmDialog
          view={view}
          act={act}
          onBack={() => setAsked(false)}
          onConfirm={(proof) => act.confirm({ most: limit ?? '', proof })}
        />
      )}
    </>
  );
}

function useConfirmation(id: string, onDone: () => void) {
  const { client_id: clientId } = useClient();
  const act = useAct(
    (given: { most: string; proof: Proof | undefined }) =>
      confirmFile(clientId, id, { ...given, key: crypto.randomUUID() }),
    [filesKey(clientId)],
  );
  const confirm = (given: { most: string; proof: Proof | undefined }) => act.mutate(given, { onSuccess: onDone });
  return { isPending: act.isPending, error: act.error, confirm };
}

interface ConfirmDialogProps {
  view: ShownFile;
  act: ReturnType<typeof useConfirmation>;
  onBack: () => void;
  onConfirm: (proof: Proof) => void;
}

/** Asks for the code that authorises all payments of a file. The code is tied to their number, sums and payees. */
function ConfirmDialog({ view: { file }, act, onBack, onConfirm }: ConfirmDialogProps): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const id = file.mass_payment_id;
  const code = useVerificationCode({ key: [clientId, id], open: () => openFileChallenge(clientId, id) }, true);
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (!act.isPending && code.check()) onConfirm(code.proof);
  };
  const count = file.sums.reduce((sum, { payments }) => sum + payments, 0);
  return (
    <Dialog
      title={t('files.confirm.title', { count })}
      isOpen
      onBack={onBack}
      action={
        <Button kind="primary" onPress={() => submit()} isPending={act.isPending} isDisabled={code.isImpossible}>
          {t('files.confirm')}
        </Button>
      }
    >
      <Facts
        facts={file.sums.map((sum) => ({
          name: t('files.sum', { currency: sum.currency, count: sum.payments }),
          value: <Money amount={decimal(sum, 'amount')} currency={sum.currency} />,
        }))}
      />
      <form className="stack" onSubmit={submit} noValidate>
        <VerificationCode code={code} refusal={act.error} count={count} />
        <button type="submit" hidden tabIndex={-1} aria-hidden="true" />
      </form>
      {act.error instanceof CallError && !code.explains(act.error) && (
        <Alert>
          <Refusal error={act.error} />
        </Alert>
      )}
    </Dialog>
  );
}
