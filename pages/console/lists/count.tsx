import type { ReactNode } from 'react';
import { numberFormat } from '../../design/formats.ts';
import { useLocale } from '../../texts/text.tsx';

/** How many there are, as the person's language writes it. */
export function Count({ children }: { children: number }): ReactNode {
  return numberFormat(useLocale(), {}).format(children);
}
