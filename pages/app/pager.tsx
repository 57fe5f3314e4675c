import type { ReactNode } from 'react';
import { Button } from '../design/button.tsx';
import { useText } from '../texts/text.tsx';

interface PagerProps {
  /** Counted from 1. */
  page: number;
  size: number;
  total: number;
  onPage: (page: number) => void;
  /** Shows it even if there is only one page. */
  isAlways?: boolean;
}

/** The number of the last page that has rows; 1 if there are none. */
export function lastPage(total: number, size: number): number {
  return Math.max(1, Math.ceil(total / size));
}

/** `Previous page`, `Next page`, and the current position. */
export function Pager({ page, size, total, onPage, isAlways = false }: PagerProps): ReactNode {
  const t = useText();
  const pages = lastPage(total, size);
  if (pages === 1 && page === 1 && !isAlways) return null;
  return (
    <div className="row end">
      <span className="quiet small">{t('payments.page', { page, pages })}</span>
      <Button isDisabled={page <= 1} onPress={() => onPage(Math.min(page - 1, pages))}>
        {t('payments.previous')}
      </Button>
      <Button isDisabled={page >= pages} onPress={() => onPage(page + 1)}>
        {t('payments.next')}
      </Button>
    </div>
  );
}
