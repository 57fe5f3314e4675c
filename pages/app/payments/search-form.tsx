import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState, useSyncExternalStore } from 'react';
import { findNamed } from '../../data/find.ts';
import type { SearchTexts } from '../../data/payments.ts';
import { Button } from '../../design/button.tsx';
import { type ChipField, FilterChip } from '../../design/filter-chip.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { FindField } from './find-field.tsx';
import { DAY_FIELDS, filtersOf, RANGES, STATUSES, searchOfForm } from './search-fields.ts';
import './search-form.css';
import { understood } from './understand.ts';

interface SearchFormProps {
  search: SearchTexts;
  /** With another number the filters forget what was typed into them. The text of the search stays: somebody may be typing it. */
  resets: number;
  onSearch: (search: SearchTexts) => void;
  /** Clears every filter. */
  onClear: () => void;
}

/** A phone, where the filters would fill a screen before the first payment. */
const NARROW = matchMedia('(max-width: 40rem)');

function useNarrow(): boolean {
  return useSyncExternalStore(
    (onChange) => {
      NARROW.addEventListener('change', onChange);
      return () => NARROW.removeEventListener('change', onChange);
    },
    () => NARROW.matches,
  );
}

/**
 * One field for most searches, and the filters under the names of the API's parameters, each a word that opens when it is wanted. On a
 * phone most of them are folded.
 */
export function SearchForm({ search, resets, onSearch, onClear }: SearchFormProps): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const queries = useQueryClient();
  const isNarrow = useNarrow();
  const [text, setText] = useState('');
  const [shown, folded] = isNarrow ? [PHONE, DESK_ONLY] : [ALL, []];
  const submit = async (form: HTMLFormElement) => {
    const filters = searchOfForm(form, search);
    const sought = text.trim();
    if (sought === '') return onSearch(filters);
    const finds = await queries
      .fetchQuery({
        queryKey: ['find', clientId, sought],
        queryFn: ({ signal }) => findNamed(clientId, sought, signal),
      })
      .catch(() => ({ payments: [], payees: [] }));
    setText('');
    onSearch({ ...filters, ...understood(sought, finds) });
  };
  return (
    <form
      className="stack tight search-form"
      aria-label={t('payments.search')}
      onSubmit={(event) => {
        event.preventDefault();
        void submit(event.currentTarget);
      }}
    >
      <div className="search-line">
        <FindField
          value={text}
          onChange={setText}
          onFilter={(filter) => onSearch({ ...withoutPage(search), ...filter })}
        />
        <Button kind="primary" type="submit">
          {t('payments.search')}
        </Button>
      </div>
      <div className="chips" key={`shown ${resets}`}>
        {shown.map((chip) => (
          <Filter key={chip} chip={chip} search={search} />
        ))}
        {filtersOf(search) > 0 && (
          <Button
            kind="quiet"
            onPress={() => {
              setText('');
              onClear();
            }}
          >
            {t('payments.filter.clear')}
          </Button>
        )}
      </div>
      {folded.length > 0 && (
        <details
          key={`folded ${resets}`}
          open={folded.some((chip) => CHIPS[chip].some((name) => search[name])) || undefined}
        >
          <summary className="small">{t('payments.filter.more')}</summary>
          <div className="chips">
            {folded.map((chip) => (
              <Filter key={chip} chip={chip} search={search} />
            ))}
          </div>
        </details>
      )}
    </form>
  );
}

/** The same search from its first page. */
function withoutPage({ page: _, ...search }: SearchTexts): SearchTexts {
  return search;
}

/** The filters, each with the parameters that it sets. */
const CHIPS = {
  status: ['status'],
  currency: ['payment_currency'],
  amount: ['amount_range', 'amount'],
  payment_date: ['from_payment_date', 'to_payment_date'],
  created: ['from_created_date', 'to_created_date'],
  reference: ['reference'],
  payee: ['beneficiary_id'],
  ids: ['payment_ids'],
  trade: ['trade_id'],
  file: ['mass_payment_id', 'mass_payment_external_reference_id'],
} as const;
type ChipName = keyof typeof CHIPS;
type FieldName = (typeof CHIPS)[ChipName][number];
type GroupName = 'amount' | 'payment_date' | 'created' | 'file';
const ALL = Object.keys(CHIPS) as ChipName[];
const PHONE: readonly ChipName[] = ['status', 'amount', 'payment_date'];
const DESK_ONLY = ALL.filter((chip) => !PHONE.includes(chip));

function Filter({ chip, search }: { chip: ChipName; search: SearchTexts }): ReactNode {
  const t = useText();
  const fieldOf = useFilterField(search);
  const names = CHIPS[chip];
  return (
    <FilterChip
      title={names.length === 1 ? t(`payments.filter.${names[0]}`) : t(`payments.filter.group.${chip as GroupName}`)}
      fields={names.map(fieldOf)}
      {...SAID[chip]}
    />
  );
}

/** From one day on, until one, or both. */
function periodInWords(words: Record<string, string>): string {
  const [from, to] = Object.values(words);
  return from || to ? `${from} – ${to}`.trim() : '';
}

/** A range is nothing without its amount. */
function amountInWords({ amount, amount_range: range }: Record<string, string>): string {
  return amount ? `${range ?? ''} ${amount}`.trim() : '';
}

const SAID: Partial<Record<ChipName, { said: (words: Record<string, string>) => string }>> = {
  amount: { said: amountInWords },
  payment_date: { said: periodInWords },
  created: { said: periodInWords },
};

function useFilterField(search: SearchTexts): (name: FieldName) => ChipField {
  const t = useText();
  return (name) => {
    const field = { name, label: t(`payments.filter.${name}`), defaultValue: search[name] ?? '' };
    if (name === 'status') {
      const statuses = STATUSES.map((status) => ({ value: status, text: t(`payments.filter.status.${status}`) }));
      return { ...field, options: [{ value: '', text: t('payments.filter.any') }, ...statuses] };
    }
    if (name === 'amount_range') {
      const ranges = RANGES.map((range) => ({ value: range, text: t(`payments.filter.amount_range.${range}`) }));
      return { ...field, defaultValue: search.amount_range ?? 'equal', options: ranges };
    }
    if (name === 'amount') return { ...field, inputMode: 'numeric', pattern: '-?[0-9]{1,10}' };
    return { ...field, type: DAY_FIELDS.some((day) => day === name) ? 'date' : 'text' };
  };
}
