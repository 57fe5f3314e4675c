import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import './payment-link.css';

/** Characters up to which an id is never broken over two lines. */
const MAX_UNBROKEN_LENGTH = 16;

/** The id of a payment as a link to its page, for the same client. */
export function PaymentLink({ id }: { id: string }): ReactNode {
  return (
    <Link
      {...(id.length <= MAX_UNBROKEN_LENGTH && { className: 'payment-link' })}
      to={'/payments/$payment_id' as never}
      params={{ payment_id: id } as never}
    >
      {id}
    </Link>
  );
}
