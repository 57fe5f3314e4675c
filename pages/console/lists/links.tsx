import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Badge, type Tone } from '../../design/badge.tsx';
import { ForeignText, visible } from '../../design/foreign-text.tsx';

/** A link to the page of what an id names. */
export function IdLink({ to, id }: { to: 'payments' | 'clients' | 'contacts'; id: string | null }): ReactNode {
  if (id === null) return null;
  return (
    <Link to={`/${to}/${encodeURIComponent(id)}`} className="console-id">
      {visible(id)}
    </Link>
  );
}

/** Who did something, as the audit trail names them: a contact with a link to its page. */
export function Actor({ children }: { children: string }): ReactNode {
  const contact = /^contact:(.+)$/.exec(children)?.[1];
  return contact === undefined ? <ForeignText>{children}</ForeignText> : <IdLink to="contacts" id={contact} />;
}

/** A link to a list with filters. */
export function ListLink({
  to,
  search,
  children,
}: {
  to: string;
  search: Record<string, string>;
  children: ReactNode;
}): ReactNode {
  return (
    <Link to={to} search={search}>
      {children}
    </Link>
  );
}

const TONES: [RegExp, Tone][] = [
  [/^(delivered|done|sent|ok|enabled|Payment complete|2\d\d)$/, 'good'],
  [/fail|wrong|interrupted|rejected|disabled|locked|^5\d\d$/i, 'bad'],
  [/pending|retrying|Need|cancelled|^4\d\d$|expired/i, 'warn'],
  [/running|making|requested|Executing|Waiting|Validating/, 'info'],
];

/** A state, with its code as the API has it. */
export function State({ children }: { children: string | number | null }): ReactNode {
  if (children === null) return null;
  const text = String(children);
  return <Badge tone={TONES.find(([form]) => form.test(text))?.[1] ?? 'neutral'}>{text}</Badge>;
}
