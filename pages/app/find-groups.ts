import type { Finds } from '../../src/payments/views/find.ts';
import { useText } from '../texts/text.tsx';

/** Names the groups of what a text finds. A group that leaves some out says so. */
export function useFindGroups(): (finds: Finds) => { payments: string; payees: string } {
  const t = useText();
  return ({ payments, payees, more }) => {
    const named = (what: string, count: number, isMore: boolean) =>
      isMore ? t('app.find.more', { what, count }) : what;
    return {
      payments: named(t('app.find.payments'), payments.length, more.payments),
      payees: named(t('app.find.payees'), payees.length, more.payees),
    };
  };
}
