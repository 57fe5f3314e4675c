import { Link, useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { institution, isSandbox } from '../data/document.ts';
import { Badge } from '../design/badge.tsx';
import { Button } from '../design/button.tsx';
import { Icon, type IconName } from '../design/icon.tsx';
import { LANGUAGES, type Language, useLanguage, useText } from '../texts/text.tsx';
import { useKeptFocus } from './kept-focus.ts';
import { navIcon } from './nav-icons.ts';
import { PaletteButton } from './palette-button.tsx';
import type { PaletteSource } from './palette-entries.ts';
import { setTheme, THEMES, type Theme, theme } from './theme.ts';
import './frame.css';

/** The languages under their own names, for people who read no other. */
export const LANGUAGE_NAMES: Record<Language, string> = { en: 'English', de: 'Deutsch', fr: 'Français', es: 'Español' };

interface FrameProps {
  /** The application's pages. Those of a group are below its name. */
  links: { to: string; title: string; group?: string }[];
  /** What the header shows before `Sign out`: the client, a search, the person. */
  head?: ReactNode;
  /** What Ctrl K finds besides the pages. */
  palette: PaletteSource;
  onSignOut: () => void;
  onLanguage: (language: Language) => void;
  children: ReactNode;
}

/** The frame around every page of both applications: the institution, the navigation, and the way out. */
export function Frame({ links, head, palette, onSignOut, onLanguage, children }: FrameProps): ReactNode {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  const navigation = useId();
  const path = useLocation({ select: ({ pathname }) => pathname });
  const nav = useRef<HTMLElement>(null);
  useKeptFocus();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page is current with another path
  useEffect(() => showCurrent(nav.current), [path]);
  return (
    <div className="frame">
      <a className="skip" href="#content">
        {t('frame.skip')}
      </a>
      <header className="frame-head">
        <span className="frame-menu">
          <button
            type="button"
            className="button"
            aria-expanded={isOpen}
            aria-controls={navigation}
            onClick={() => setOpen(!isOpen)}
          >
            <Icon name="menu" />
            {t('frame.menu')}
          </button>
        </span>
        <Link to="/" className="frame-mark">
          <Mark />
        </Link>
        {isSandbox && <Badge tone="warn">{t('frame.sandbox')}</Badge>}
        <PaletteButton links={links} source={palette} onSignOut={onSignOut} />
        <div className="frame-own">{head}</div>
        <Button onPress={onSignOut}>{t('frame.signOut')}</Button>
      </header>
      <nav
        ref={nav}
        className="frame-nav"
        id={navigation}
        aria-label={t('frame.navigation')}
        data-open={isOpen || undefined}
      >
        <div>
          {[...Map.groupBy(links, ({ group }) => group)].map(([group, own]) => (
            <ul key={group ?? ''} aria-label={group}>
              {group && (
                <li className="frame-group" aria-hidden="true">
                  {group}
                </li>
              )}
              {own.map(({ to, title }) => (
                <li key={to}>
                  <Link
                    to={to}
                    activeOptions={{ exact: isElsewhere(to, links, path), includeSearch: false }}
                    onClick={() => setOpen(false)}
                  >
                    <Icon name={navIcon(to)} />
                    {title}
                  </Link>
                </li>
              ))}
            </ul>
          ))}
        </div>
        <Settings onLanguage={onLanguage} />
      </nav>
      <main className="frame-main" id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

/** Where the list scrolls, the page that is open is in sight there. The window itself stays where it is. */
function showCurrent(nav: HTMLElement | null): void {
  const [list, current] = [nav?.firstElementChild, nav?.querySelector('[aria-current="page"]')];
  if (!list || !current) return;
  const [frame, link] = [list.getBoundingClientRect(), current.getBoundingClientRect()];
  if (link.top < frame.top || link.bottom > frame.bottom) list.scrollTop += link.top - frame.top - frame.height / 2;
}

/** Another link leads below it, and is the one that shows where one is. */
function isElsewhere(to: string, links: FrameProps['links'], path: string): boolean {
  const isBelow = (one: string, other: string) => one === other || one.startsWith(other === '/' ? other : `${other}/`);
  return links.some((other) => other.to !== to && isBelow(other.to, to) && (to === '/' || isBelow(path, other.to)));
}

/** Whose pages these are: the logo, or else an initial and the name. */
export function Mark(): ReactNode {
  const { name, logo } = institution;
  if (logo) return <img src={logo} alt={name} />;
  return (
    <>
      <span className="frame-initial" aria-hidden="true">
        {[...name.trim()][0]?.toUpperCase()}
      </span>
      <span className="frame-name">{name}</span>
    </>
  );
}

function Settings({ onLanguage }: Pick<FrameProps, 'onLanguage'>): ReactNode {
  const t = useText();
  const language = useLanguage();
  const [chosen, choose] = useState(theme);
  return (
    <div className="frame-settings">
      <Setting icon="globe" label={t('frame.language')}>
        <select value={language} onChange={({ target }) => onLanguage(target.value as Language)}>
          {LANGUAGES.map((each) => (
            <option key={each} value={each} lang={each}>
              {LANGUAGE_NAMES[each]}
            </option>
          ))}
        </select>
      </Setting>
      <Setting icon="sun-moon" label={t('frame.theme')}>
        <select
          value={chosen}
          onChange={({ target }) => {
            setTheme(target.value as Theme);
            choose(target.value as Theme);
          }}
        >
          {THEMES.map((each) => (
            <option key={each} value={each}>
              {t(`frame.theme.${each}`)}
            </option>
          ))}
        </select>
      </Setting>
    </div>
  );
}

/** One of the two display settings, shown quietly at the end of the navigation. */
function Setting({ icon, label, children }: { icon: IconName; label: string; children: ReactNode }): ReactNode {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is among the children
    <label className="frame-setting">
      <Icon name={icon} />
      <span className="visually-hidden">{label}</span>
      {children}
    </label>
  );
}
