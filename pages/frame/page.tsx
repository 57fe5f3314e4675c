import { type ReactNode, useEffect, useRef } from 'react';
import { institution } from '../data/document.ts';

interface PageProps {
  /** The single `h1`, and the title of the window. */
  title: string;
  /** The content of the heading, if it differs from the title: a text of others. */
  heading?: ReactNode;
  /** Whose page it is, where the heading only has an id. */
  of?: ReactNode;
  /** What one can do here, beside the heading. */
  actions?: ReactNode;
  children: ReactNode;
}

let pagesShown = 0;

/** Whether this document has shown a page. */
export const hasShownPage = (): boolean => pagesShown > 0;

/** A page: its title, its heading, and its content. After a move to another page the focus is on the heading. */
export function Page({ title, heading, of, actions, children }: PageProps): ReactNode {
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} - ${institution.name}`;
  }, [title]);
  useEffect(() => {
    // The router decides the scroll position (scroll.ts): the focus may come before or after it.
    if (pagesShown > 0) head.current?.focus({ preventScroll: true });
    pagesShown += 1;
  }, []);
  return (
    <div className="stack">
      <div className="row apart">
        <div className="page-head">
          <h1 tabIndex={-1} ref={head}>
            {heading ?? title}
          </h1>
          {of && <p className="page-of">{of}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </div>
      {children}
    </div>
  );
}
