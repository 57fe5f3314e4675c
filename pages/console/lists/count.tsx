import type { ReactNode } from 'react';
import { numberFormat } from '../../design/formats.ts';
import { useLocale } from '../../texts/text.tsx';

/** A count, formatted in the person's language. */
export function Count({ children }: { children: number }): ReactNode {
  return numberFormat(useLocale(), {}).format(children);
}
