import { Children, type ReactNode } from 'react';
import './badge.css';

/** Says what went wrong: screen readers read it at once. */
export function Alert({ children }: { children: ReactNode }): ReactNode {
  return (
    <div className="notice bad" role="alert">
      {children}
    </div>
  );
}

/**
 * Says what became of an act. Keep it in the page and change its content: only changes are read out. It can have the focus, which goes
 * there where the act has removed what had it.
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
