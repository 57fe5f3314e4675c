import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** The id of a trade as a link to its page, for the same client. */
export function TradeLink({ id }: { id: string }): ReactNode {
  return (
    <Link to={'/trades/$trade_id' as never} params={{ trade_id: id } as never}>
      {id}
    </Link>
  );
}
