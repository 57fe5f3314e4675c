import { type KeyboardEvent, type ReactNode, useEffect, useEffectEvent, useId, useRef, useState } from 'react';
import { useText } from '../texts/text.tsx';
import { Icon, type IconName } from './icon.tsx';
import './finder.css';

/** A choice among the results for a text. */
export interface Find {
  key: string;
  icon: IconName;
  title: ReactNode;
  /** Tells it from similar ones. */
  detail?: ReactNode;
  /** The heading above it. */
  group: string;
  choose: () => void;
}

interface FinderProps {
  /** The accessible name of the field. */
  label: string;
  name?: string;
  placeholder: string;
  value: string;
  onChange: (text: string) => void;
  finds: readonly Find[];
  /** The message if nothing is found; it appears below the field. */
  none?: string | undefined;
  /** The list is always visible. Otherwise it opens while the person types, and covers what is below it. */
  isAlways?: boolean;
  /** Enter takes the first result. Otherwise Enter submits the form around the field, unless an arrow key has marked a result. */
  isEager?: boolean;
  /** The finds are still those of another text: Enter waits for the right ones. */
  isPending?: boolean;
  /** It is a field of a form: its label is seen, a press opens the list, and what is wrong stands below it. */
  field?: { error: string | undefined };
  maxLength: number;
}

/** A name in Arabic is cut at its end, and not at its beginning. */
const TEXT = { type: 'text', dir: 'auto', autoComplete: 'off', spellCheck: false } as const;

/** A field, and the list of results for its text: arrow keys mark, Enter chooses, Escape closes. */
export function Finder(props: FinderProps): ReactNode {
  const { label, name, placeholder, value, onChange, finds, none, field, maxLength } = props;
  const { isAlways = false, isEager = false, isPending = false } = props;
  const [list, input] = [useId(), useId()];
  const [isOpen, setOpen] = useState(false);
  const [marked, mark] = useState<string>();
  const frame = useRef<HTMLDivElement>(null);
  const isShown = isAlways || (isOpen && finds.length > 0);
  const at = finds.findIndex(({ key }) => key === marked);
  const current = at < 0 && isEager && finds.length > 0 ? 0 : at;
  const idOf = (index: number) => `${list}-${index}`;
  const choose = (find: Find) => {
    setOpen(false);
    mark(undefined);
    find.choose();
  };
  const awaited = useAwaited(isPending, () => finds[0] && choose(finds[0]));
  const move = (next: number) => {
    const index = (next + finds.length) % finds.length;
    mark(finds[index]?.key);
    document.getElementById(idOf(index))?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const find = finds[current];
    if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && finds.length > 0) {
      setOpen(true);
      move(event.key === 'ArrowDown' ? current + 1 : Math.max(current, 0) - 1);
    } else if (event.key === 'Enter' && isPending && at < 0) awaited.current = true;
    else if (event.key === 'Enter' && isShown && find) choose(find);
    else if (event.key === 'Escape' && isShown && !isAlways) {
      setOpen(false);
      mark(undefined);
    } else return;
    event.preventDefault();
    if (!isAlways) event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only looks where the focus goes
    <div
      className={field ? 'finder field' : 'finder'}
      ref={frame}
      onBlur={({ relatedTarget }) => !frame.current?.contains(relatedTarget) && setOpen(false)}
    >
      {field && <label htmlFor={input}>{label}</label>}
      <div className="finder-field">
        <Icon name="search" />
        <input
          {...TEXT}
          role="combobox"
          name={name}
          {...namesOf({ id: input, label, field }, () => setOpen(true))}
          aria-expanded={isShown}
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={isShown && current >= 0 ? idOf(current) : undefined}
          placeholder={placeholder}
          maxLength={maxLength}
          // biome-ignore lint/a11y/noAutofocus: a dialog that is one field
          autoFocus={isAlways}
          value={value}
          onChange={({ target }) => {
            setOpen(true);
            mark(undefined);
            awaited.current = false;
            onChange(target.value);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <Finds
        {...{
          id: list,
          label: field ? undefined : label,
          finds,
          isShown,
          isAlways,
          current,
          idOf,
          choose,
          mark,
        }}
      />
      <Below id={input} error={field?.error} none={none} />
    </div>
  );
}

/** Whether Enter was pressed before the right finds were there. @param choose takes the first of them, once they are */
function useAwaited(isPending: boolean, choose: () => void) {
  const awaited = useRef(false);
  const chooseFirst = useEffectEvent(() => {
    if (awaited.current) choose();
    awaited.current = false;
  });
  useEffect(() => {
    if (!isPending) chooseFirst();
  }, [isPending]);
  return awaited;
}

/** What the input says of itself: as a field of a form, or as one that only seeks. @param open shows the list */
function namesOf({ id, label, field }: Pick<FinderProps, 'label' | 'field'> & { id: string }, open: () => void) {
  if (!field) return { id, 'aria-label': label };
  const faulty = { 'aria-invalid': true, 'aria-describedby': `${id}-error` } as const;
  return { id, onClick: open, ...(field.error && faulty) };
}

/** The error of the field, and the message that nothing was found. */
function Below({ id, error, none }: { id: string; error: string | undefined; none: string | undefined }): ReactNode {
  return (
    <>
      {error && (
        <span className="field-error" id={`${id}-error`} role="alert">
          {error}
        </span>
      )}
      <p className="finder-none quiet small" role="status">
        {none}
      </p>
    </>
  );
}

interface FindsProps {
  id: string;
  /** Its name, where it is not that of suggestions. */
  label: string | undefined;
  finds: readonly Find[];
  isShown: boolean;
  isAlways: boolean;
  /** Negative if none is marked. */
  current: number;
  idOf: (index: number) => string;
  choose: (find: Find) => void;
  mark: (key: string) => void;
}

function Finds({ id, label, finds, isShown, isAlways, current, idOf, choose, mark }: FindsProps): ReactNode {
  const t = useText();
  const groups = Map.groupBy(finds.entries(), ([, { group }]) => group);
  return (
    <div
      id={id}
      className={isAlways ? 'finder-list' : 'finder-list over'}
      role="listbox"
      aria-label={label ?? t('design.suggestions')}
      hidden={!isShown || finds.length === 0}
      // Keeps the focus in the field.
      onPointerDown={(event) => event.preventDefault()}
    >
      {[...groups].map(([group, own]) => (
        // biome-ignore lint/a11y/useSemanticElements: a listbox may have groups, and no fieldset
        <div key={group} role="group" aria-label={group}>
          <div className="find-group" aria-hidden="true">
            {group}
          </div>
          {own.map(([index, find]) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the marked one
            // biome-ignore lint/a11y/useKeyWithClickEvents: keys are the field's
            <div
              key={find.key}
              id={idOf(index)}
              className="find"
              role="option"
              aria-selected={index === current}
              onPointerMove={() => mark(find.key)}
              onClick={() => choose(find)}
            >
              <Icon name={find.icon} />
              <span className="find-title">{find.title}</span>
              {find.detail && <span className="find-detail">{find.detail}</span>}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}
