import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState, useSyncExternalStore } from 'react';
import { findNamed } from '../../data/find.ts';
import type { SearchTexts } from '../../data/payments.ts';
import { Button } from '../../design/button.tsx';
import { ChipField, ChipSelect } from '../../design/chip-field.tsx';
import { useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { FindField } from './find-field.tsx';
import { DAY_FIELDS, filtersOf, MORE_FIELDS, RANGES, STATUSES, searchOfForm, TEXT_FIELDS } from './search-fields.ts';
import './search-form.css';
import { understood } from './understand.ts';

interface SearchFormProps {
  search: SearchTexts;
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
 * One field for most searches, and the filters under the names of the API's parameters. All are visible, and each is small until it is
 * used. On a phone most of them are folded away.
 */
export function SearchForm({ search, onSearch, onClear }: SearchFormProps): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const queries = useQueryClient();
  const isNarrow = useNarrow();
  const [text, setText] = useState('');
  const [shown, folded] = isNarrow ? [PHONE_FIELDS, DESK_ONLY_FIELDS] : [FIELDS, MORE_FIELDS];
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
      <div className="chips">
        {shown.map((name) => (
          <FilterField key={name} name={name} search={search} />
        ))}
        {filtersOf(search) > 0 && (
          <Button kind="quiet" onPress={onClear}>
            {t('payments.filter.clear')}
          </Button>
        )}
      </div>
      <details open={folded.some((name) => search[name]) || undefined}>
        <summary className="small">{t('payments.filter.more')}</summary>
        <div className="chips">
          {folded.map((name) => (
            <FilterField key={name} name={name} search={search} />
          ))}
        </div>
      </details>
    </form>
  );
}

/** The same search from its first page. */
function withoutPage({ page: _, ...search }: SearchTexts): SearchTexts {
  return search;
}

const FIELDS = ['status', 'payment_currency', ...TEXT_FIELDS, 'amount', 'amount_range', ...DAY_FIELDS] as const;
type FieldName = (typeof FIELDS)[number] | (typeof MORE_FIELDS)[number];
const PHONE_FIELDS: readonly FieldName[] = ['reference', 'status'];
const DESK_ONLY_FIELDS = [...FIELDS, ...MORE_FIELDS].filter((name) => !PHONE_FIELDS.includes(name));

function FilterField({ name, search }: { name: FieldName; search: SearchTexts }): ReactNode {
  const t = useText();
  const given = { name, label: t(`payments.filter.${name}`), defaultValue: search[name] ?? '', autoComplete: 'off' };
  if (name === 'status')
    return (
      <ChipSelect {...given} isFilled={name in search}>
        <option value="">{t('payments.filter.any')}</option>
        {STATUSES.map((status) => (
          <option key={status} value={status}>
            {t(`payments.filter.status.${status}`)}
          </option>
        ))}
      </ChipSelect>
    );
  if (name === 'amount_range')
    return (
      <ChipSelect {...given} isFilled={name in search} defaultValue={search.amount_range ?? 'equal'}>
        {RANGES.map((range) => (
          <option key={range} value={range}>
            {t(`payments.filter.amount_range.${range}`)}
          </option>
        ))}
      </ChipSelect>
    );
  if (name === 'amount') return <ChipField {...given} inputMode="numeric" pattern="-?[0-9]{1,10}" />;
  return <ChipField {...given} type={DAY_FIELDS.some((day) => day === name) ? 'date' : 'text'} />;
}
