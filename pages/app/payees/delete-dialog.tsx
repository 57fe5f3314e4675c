import type { ReactNode } from 'react';
import { type Beneficiary, deletePayee, payeesKey } from '../../data/payees.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { ForeignText } from '../../design/foreign-text.tsx';
import { Failure } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';

interface DeleteDialogProps {
  payee: Beneficiary;
  onBack: () => void;
  onDone: () => void;
}

/** Deletes a payee. */
export function DeletePayee({ payee, onBack, onDone }: DeleteDialogProps): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const act = useAct(() => deletePayee(clientId, payee.beneficiary_id ?? ''), [payeesKey(clientId)]);
  return (
    <Dialog
      title={t('payees.delete')}
      isOpen
      onBack={onBack}
      action={
        <Button kind="danger" isPending={act.isPending} onPress={() => act.mutate(undefined, { onSuccess: onDone })}>
          {t('payees.delete')}
        </Button>
      }
    >
      <p>
        <ForeignText>{payee.name}</ForeignText>
      </p>
      <p>{t('payees.delete.text')}</p>
      {act.error && <Failure error={act.error} />}
    </Dialog>
  );
}
