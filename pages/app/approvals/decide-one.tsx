import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type PaymentView, paymentQuery } from '../../data/payments.ts';
import { useClient } from '../client.tsx';
import { type Decided, DecisionDialog } from '../decide/decision-dialog.tsx';

interface DecideOneProps {
  id: string;
  action: Decided;
  onBack: () => void;
  onDone: (view: PaymentView) => void;
}

/** Asks before one payment of a list is decided, like the payment's own page. */
export function DecideOne({ id, action, onBack, onDone }: DecideOneProps): ReactNode {
  const { client_id: clientId } = useClient();
  const { data: view } = useQuery(paymentQuery(clientId, id));
  if (view?.payment.payment_id !== id) return null;
  return <DecisionDialog key={id} view={view} action={action} onBack={onBack} onDone={() => onDone(view)} />;
}
