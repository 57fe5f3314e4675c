import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Badge, type Tone } from '../../design/badge.tsx';
import { ForeignText, isolated, visible } from '../../design/foreign-text.tsx';
import type { TextKey } from '../../texts/keys.ts';
import { useText } from '../../texts/text.tsx';
import { useWord } from './words.ts';

/** Longer ids are cut in a row. */
const LONG_ID = 20;

/** The records that have their own page. */
export type RecordPage =
  | 'payments'
  | 'files'
  | 'clients'
  | 'contacts'
  | 'applications'
  | 'trades'
  | 'quotes'
  | 'payees';

/** A link to the page of the record that an id identifies. */
export function IdLink({ to, id }: { to: RecordPage; id: string | null }): ReactNode {
  if (id === null) return null;
  return (
    <Link to={`/${to}/${encodeURIComponent(id)}`} {...idStyle(id)}>
      {visible(id)}
    </Link>
  );
}

/** If a row has no room for an id, hovering shows the whole id. */
function idStyle(id: string): { className: string; title?: string } {
  return id.length > LONG_ID ? { className: 'console-id long', title: visible(id) } : { className: 'console-id' };
}

/** An identifier of a record without its own page. */
export function Id({ children }: { children: string | null }): ReactNode {
  return children === null ? null : <span {...idStyle(children)}>{visible(children)}</span>;
}

/**
 * A name, an email or a reference in a row. If there is no room, it ends with three dots, and hovering shows the whole text.
 * @param isWide it is the only long text of its row
 */
export function Cut({ children, isWide }: { children: string | null | undefined; isWide?: boolean }): ReactNode {
  if (!children) return null;
  return (
    // Its direction is that of its text, so that the end is cut, and not the beginning of an Arabic name.
    <span className={isWide ? 'cut wide' : 'cut'} dir="auto" title={visible(children)}>
      {visible(children)}
    </span>
  );
}

/**
 * The actor of an audit row, in words. A contact is a link to its page.
 * @param names of contacts, by their id. The others are shown by id
 */
export function Actor({
  children,
  names,
}: {
  children: string;
  names?: ReadonlyMap<string, string> | undefined;
}): ReactNode {
  const t = useText();
  if (children === '') return null;
  const [, kind, name = ''] = /^(contact|staff|operator|token|service):(.+)$/s.exec(children) ?? [];
  const contactName = kind === 'contact' ? names?.get(name) : undefined;
  if (contactName !== undefined)
    return (
      <Link to={`/contacts/${encodeURIComponent(name)}`} title={visible(name)}>
        <ForeignText>{contactName}</ForeignText>
      </Link>
    );
  if (kind === 'contact') return <IdLink to="contacts" id={name} />;
  if (kind === 'staff') return <ForeignText>{name}</ForeignText>;
  const known = KNOWN_ACTORS[children];
  if (known) return t(known);
  if (kind === 'service') return t('console.actor.service', { name: visible(name) });
  return kind ? t('console.actor.token', { name: isolated(name) }) : <ForeignText>{children}</ForeignText>;
}

/** The name of an operator token. Names that the service itself gives are shown in words. */
export function TokenName({ children }: { children: string }): ReactNode {
  const t = useText();
  const known = KNOWN_ACTORS[`operator:${children}`];
  return known ? t(known) : <Cut>{children}</Cut>;
}

/** A function that names an operator token, or a person of staff, in a sentence. */
export function useTokenName(): (name: string) => string {
  const t = useText();
  return (name) => {
    const known = KNOWN_ACTORS[`operator:${name}`];
    return known ? t(known) : isolated(name);
  };
}

/** The actors that the service itself names. */
const KNOWN_ACTORS: Record<string, TextKey> = {
  'service:demonstration': 'console.actor.demonstration',
  'service:autopilot': 'console.actor.autopilot',
  'service:start': 'console.actor.start',
  'service:webhooks': 'console.actor.webhooks',
  'service:statements': 'console.actor.statements',
  'operator:first start': 'console.actor.first_start',
  'operator:configured': 'console.actor.configured',
  'command line': 'console.actor.commandline',
  system: 'console.actor.system',
};

/** A link to a filtered list. */
export function ListLink({
  to,
  search,
  isButton,
  id,
  children,
}: {
  to: string;
  search: Record<string, string>;
  /** Looks like the main button of its place. */
  isButton?: boolean;
  /** The id of a record that has no page of its own; it is written as an id. */
  id?: string;
  children: ReactNode;
}): ReactNode {
  const style = id === undefined ? { className: isButton ? 'button primary' : undefined } : idStyle(id);
  return (
    <Link to={to} search={search} {...style}>
      {children}
    </Link>
  );
}

const TONES: [RegExp, Tone][] = [
  [/^(delivered|done|sent|ok|enabled|confirmed|Payment complete|2\d\d)$/i, 'good'],
  [
    /fail|wrong|^(connect|timeout|dns|tls|protocol|blocked_address|gone)$|interrupted|rejected|disabled|locked|^5\d\d$/i,
    'bad',
  ],
  [/pending|retrying|Need|cancelled|^4\d\d$|expired/i, 'warn'],
  [/running|making|requested|Executing|Waiting|Validating/, 'info'],
];

/** A state in words, with a colour. */
export function State({ children }: { children: string | number | null }): ReactNode {
  const word = useWord();
  if (children === null) return null;
  const text = String(children);
  return <Badge tone={TONES.find(([form]) => form.test(text))?.[1] ?? 'neutral'}>{word(text)}</Badge>;
}
