import type { ReactNode } from 'react';
import { formatAmount } from '../../design/money.tsx';
import { useLocale, useText } from '../../texts/text.tsx';

/** How much one unit of the sold currency buys. @param rate plain decimal text */
export function Rate({ sold, bought, rate }: { sold: string; bought: string; rate: string }): ReactNode {
  const t = useText();
  const locale = useLocale();
  return t('trades.rate.of', { sold, bought, rate: formatAmount(rate, undefined, locale) });
}
