import { Children, type ReactNode } from 'react';
import './badge.css';

/** Reports an error: screen readers read it at once. */
export function Alert({ children }: { children: ReactNode }): ReactNode {
  return (
    <div className="notice bad" role="alert">
      {children}
    </div>
  );
}

/**
 * Reports the result of an act. Keep it in the page and change its content, because only changes are read out. It can take the focus, if
 * the act has removed the element that had it.
 */
export function Status({
  tone = 'good',
  children,
}: {
  tone?: 'good' | 'info' | 'warn';
  children?: ReactNode;
}): ReactNode {
  return (
    <div role="status" tabIndex={-1}>
      {Children.toArray(children).some((each) => each !== '') && <div className={`notice ${tone}`}>{children}</div>}
    </div>
  );
}
