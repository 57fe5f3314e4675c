import {
  type ComponentProps,
  type FocusEvent,
  type KeyboardEvent,
  type ReactNode,
  useId,
  useRef,
  useState,
} from 'react';
import { useLocale, useText } from '../texts/text.tsx';
import { isolated } from './foreign-text.tsx';
import { dateFormat } from './formats.ts';
import { formatDay } from './moment.tsx';
import './filter-chip.css';

/** A field of a filter: one of a few where it has options, the first of which stands for none. */
export interface ChipField extends Pick<ComponentProps<'input'>, 'type' | 'inputMode' | 'pattern' | 'maxLength'> {
  name: string;
  label: string;
  defaultValue: string;
  options?: readonly Suggestion[];
  /** What somebody may mean who has written a text, or nothing yet: for ids that nobody knows by heart. */
  suggest?: (text: string) => Promise<readonly Suggestion[]>;
}

interface Suggestion {
  value: string;
  text: string;
}

interface FilterChipProps {
  title: string;
  fields: readonly ChipField[];
  /** What its fields say in words, where that is not one after the other. */
  said?: (words: Record<string, string>) => string;
}

const MINUTE: Intl.DateTimeFormatOptions = { dateStyle: 'medium', timeStyle: 'short' };
/** Somebody who writes on is not asked for yet. */
const PAUSE_MS = 200;
/** Room that an open chip takes. */
const PANEL_PX = 360;

/**
 * A filter that is one word until somebody wants it: then its fields open below it, and move nothing. Closed, the fields lie unseen on
 * the word, so that pointer, keyboard and screen reader reach each under its own name.
 */
export function FilterChip({ title, fields, said }: FilterChipProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [isAtEnd, setAtEnd] = useState(false);
  const [texts, setTexts] = useState<Record<string, string>>({});
  const chip = useRef<HTMLDivElement>(null);
  const locale = useLocale();
  const t = useText();
  const current = Object.fromEntries(fields.map(({ name, defaultValue }) => [name, texts[name] ?? defaultValue]));
  const worded = Object.fromEntries(
    fields.map((field) => [field.name, inWords(field, current[field.name] ?? '', locale)]),
  );
  const summary = said ? said(worded) : Object.values(worded).filter(Boolean).join(' – ');
  const open = () => {
    setAtEnd((chip.current?.getBoundingClientRect().left ?? 0) + PANEL_PX > innerWidth);
    setOpen(true);
  };
  const leave = ({ relatedTarget, currentTarget }: FocusEvent) => {
    if (!currentTarget.contains(relatedTarget)) setOpen(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' || event.key === 'Enter') setOpen(false);
    else if (event.key !== 'Tab') open();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the fields in it are what is operated
    <div
      ref={chip}
      className="chip"
      data-open={isOpen || undefined}
      data-end={isAtEnd || undefined}
      data-filled={summary !== '' || undefined}
      onFocus={open}
      onBlur={leave}
      onKeyDown={onKeyDown}
      onClick={({ target, currentTarget }) => {
        open();
        if (!(target as Element).closest('input, select, label') && !currentTarget.contains(document.activeElement))
          currentTarget.querySelector<HTMLElement>('input, select')?.focus();
      }}
    >
      <span className="chip-title" aria-hidden="true">
        {title}
        {summary !== '' && <strong>{summary}</strong>}
      </span>
      <div className="chip-panel">
        {fields.map((field) => (
          <ChipInput key={field.name} field={field} onText={(text) => setTexts({ ...texts, [field.name]: text })} />
        ))}
        {isOpen && (
          <button
            type="submit"
            className="button primary"
            onClick={(event) => {
              event.stopPropagation();
              chip.current?.querySelector<HTMLElement>('input, select')?.focus();
              setOpen(false);
            }}
          >
            {t('design.filter.apply')}
          </button>
        )}
      </div>
    </div>
  );
}

interface ChipInputProps {
  field: ChipField;
  onText: (text: string) => void;
}

function ChipInput({ field, onText }: ChipInputProps): ReactNode {
  const id = useId();
  const { label, options, suggest, ...own } = field;
  const { suggestions, ask } = useSuggestions(suggest);
  return (
    <>
      <label htmlFor={id}>{label}</label>
      {options ? (
        <select id={id} name={own.name} defaultValue={own.defaultValue} onChange={({ target }) => onText(target.value)}>
          {options.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      ) : (
        <input
          type="text"
          autoComplete="off"
          {...own}
          id={id}
          list={suggest && `${id}-list`}
          onFocus={({ currentTarget }) => ask(currentTarget.value)}
          onInput={({ currentTarget }) => {
            onText(currentTarget.value);
            ask(currentTarget.value);
          }}
        />
      )}
      {suggest && (
        <datalist id={`${id}-list`}>
          {suggestions.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </datalist>
      )}
    </>
  );
}

/** What was suggested so far. The browser shows what matches the text; without an answer it suggests nothing. */
function useSuggestions(suggest: ChipField['suggest']): {
  suggestions: readonly Suggestion[];
  ask: (text: string) => void;
} {
  const [suggestions, setSuggestions] = useState<readonly Suggestion[]>([]);
  const waits = useRef<ReturnType<typeof setTimeout>>(undefined);
  const ask = (text: string) => {
    clearTimeout(waits.current);
    if (!suggest) return;
    waits.current = setTimeout(() => {
      suggest(text).then(
        (found) => setSuggestions((all) => [...new Map([...all, ...found].map((one) => [one.value, one])).values()]),
        () => {},
      );
    }, PAUSE_MS);
  };
  return { suggestions, ask };
}

function inWords({ type, options }: ChipField, text: string, locale: string): string {
  if (text === '' || text === options?.[0]?.value) return '';
  if (options) return options.find(({ value }) => value === text)?.text ?? text;
  if (type === 'datetime-local') return dateFormat(locale, MINUTE).format(new Date(text));
  return type === 'date' && /^\d{4}-\d\d-\d\d$/.test(text) ? formatDay(text, locale) : isolated(text);
}
