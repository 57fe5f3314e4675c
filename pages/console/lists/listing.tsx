import { useNavigate, useSearch } from '@tanstack/react-router';
import type { FormEvent, ReactNode } from 'react';
import { Button } from '../../design/button.tsx';
import { type ChipField, FilterChip } from '../../design/filter-chip.tsx';
import { Empty } from '../../design/states.tsx';
import { firstOf, type Search } from '../../frame/search.ts';
import { useLanguage, useText } from '../../texts/text.tsx';
import { type ListOperation, Records, type RecordsProps } from './records.tsx';
import { suggestClients } from './suggest-clients.ts';
import { useWordOf } from './words.ts';

/** A filter under the API's name: a text, a choice, an instant, or a day. */
export interface Filter {
  name: string;
  label: string;
  options?: readonly string[];
  /** The list that the options are of, where they have words of their own there (`useWord`). They are then sorted by their words. */
  of?: string;
  instant?: true;
  day?: true;
  /** Filters that follow each other and have the same one are one chip with this title: from when, and until when. */
  group?: string;
}

type ListingProps<K extends ListOperation> = Omit<RecordsProps<K>, 'page' | 'onPage' | 'query' | 'isFiltered'> & {
  filters: Filter[];
  /** The fixed parameters of the list. */
  query?: Record<string, string>;
  unpaged?: true;
  /** Filters of which it needs at least one; the message shown until then; and what is shown before anything is asked for. */
  needs?: { filters: readonly string[]; text: string; first: ReactNode };
};

/** A list whose filters and page are in the address, so that a link shows the same list. */
export function Listing<K extends ListOperation>({
  filters,
  query,
  unpaged,
  needs,
  ...records
}: ListingProps<K>): ReactNode {
  const t = useText();
  const search = useSearch({ strict: false }) as Search;
  const go = useNavigate();
  const chosen = Object.fromEntries(filters.map(({ name }) => [name, firstOf(search[name]) || undefined]));
  const page = Math.max(1, Number(firstOf(search.page)) || 1);
  const isFiltered = Object.values(chosen).some((value) => value !== undefined);
  const show = (next: Record<string, string | undefined>) => void go({ to: '.', search: next as never });
  return (
    <div className="card stack">
      {filters.length > 0 && <FilterForm filters={filters} chosen={chosen} onFilter={show} />}
      <div>
        {needs && !isFiltered ? (
          needs.first
        ) : needs && !needs.filters.some((name) => chosen[name]) ? (
          <Empty title={t('console.list.choose')}>{needs.text}</Empty>
        ) : (
          <Records
            // The remaining properties are those of Records; a generic rest has no such type.
            {...(records as unknown as RecordsProps<K>)}
            query={{ ...chosen, ...query }}
            isFiltered={isFiltered}
            page={page}
            {...(unpaged ? {} : { onPage: (next: number) => show({ ...chosen, page: String(next) }) })}
          />
        )}
      </div>
    </div>
  );
}

interface FilterFormProps {
  filters: Filter[];
  chosen: Record<string, string | undefined>;
  onFilter: (chosen: Record<string, string | undefined>) => void;
}

function FilterForm({ filters, chosen, onFilter }: FilterFormProps): ReactNode {
  const t = useText();
  const fieldOf = useField();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    onFilter(Object.fromEntries(filters.map((filter) => [filter.name, fieldText(filter, form)])));
  };
  return (
    // A new address fills the fields again.
    <form
      className="console-filters"
      aria-label={t('console.list.filters')}
      onSubmit={submit}
      key={JSON.stringify(chosen)}
    >
      <div className="chips">
        {chipsOf(filters).map((own) => (
          <FilterChip
            key={own.map(({ name }) => name).join(' ')}
            title={own[0]?.group ?? own[0]?.label ?? ''}
            fields={own.map((filter) => fieldOf(filter, chosen[filter.name]))}
          />
        ))}
        <Button type="submit">{t('console.list.filter')}</Button>
        {filters.some(({ name }) => chosen[name]) && (
          <Button kind="quiet" onPress={() => onFilter({})}>
            {t('console.list.clear')}
          </Button>
        )}
      </div>
    </form>
  );
}

/** The filters of each chip. */
function chipsOf(filters: readonly Filter[]): Filter[][] {
  const chips: Filter[][] = [];
  for (const filter of filters) {
    const last = chips.at(-1);
    if (filter.group !== undefined && last?.[0]?.group === filter.group) last.push(filter);
    else chips.push([filter]);
  }
  return chips;
}

/** A function that makes the field of a filter. */
function useField(): (filter: Filter, value: string | undefined) => ChipField {
  const t = useText();
  const word = useWordOf();
  const language = useLanguage();
  return ({ name, label, options, of, instant, day }, value = '') => {
    const type = instant ? 'datetime-local' : day ? 'date' : 'text';
    if (!options) {
      const text = { name, label, type, defaultValue: instant && value ? localTime(value) : value, maxLength: 254 };
      return name === 'client_id' ? { ...text, suggest: suggestClients } : text;
    }
    const any = { value: '', text: t('console.list.any') };
    // A link may name one that is not offered.
    const known = value === '' || options.includes(value) ? options : [...options, value];
    const choices = known.map((one) => ({ value: one, text: word(one, of) }));
    if (of !== undefined) choices.sort((a, b) => a.text.localeCompare(b.text, language));
    return { name, label, defaultValue: value, options: [any, ...choices] };
  };
}

function fieldText({ name, instant }: Filter, form: FormData): string | undefined {
  const text = String(form.get(name) ?? '').trim();
  if (text === '') return undefined;
  return instant ? new Date(text).toISOString() : text;
}

/** An instant in the format of a field for local time. */
function localTime(instant: string): string {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
