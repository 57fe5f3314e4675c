import { type ReactNode, useSyncExternalStore } from 'react';
import type { SearchTexts } from '../../data/payments.ts';
import { Button } from '../../design/button.tsx';
import { Select, TextField } from '../../design/field.tsx';
import { useText } from '../../texts/text.tsx';
import './search-form.css';
import { DAY_FIELDS, filtersOf, MORE_FIELDS, RANGES, STATUSES, searchOfForm, TEXT_FIELDS } from './search-fields.ts';

interface SearchFormProps {
  search: SearchTexts;
  onSearch: (search: SearchTexts) => void;
  /** The search without any filter. */
  onClear: () => void;
}

/** A phone: the form would fill two screens before the first payment. */
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

/** The filters of a search, under the names of the API's parameters. On a phone most of them open when they are wanted. */
export function SearchForm({ search, onSearch, onClear }: SearchFormProps): ReactNode {
  const t = useText();
  const isNarrow = useNarrow();
  const [shown, folded] = isNarrow ? [PHONE_FIELDS, DESK_ONLY_FIELDS] : [FIELDS, MORE_FIELDS];
  return (
    <form
      className="card stack"
      aria-label={t('payments.search')}
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(searchOfForm(event.currentTarget, search));
      }}
    >
      <div className="fields search-fields">
        {shown.map((name) => (
          <FilterField key={name} name={name} search={search} />
        ))}
      </div>
      <details open={folded.some((name) => search[name]) || undefined}>
        <summary>{t('payments.filter.more')}</summary>
        <div className="fields search-fields">
          {folded.map((name) => (
            <FilterField key={name} name={name} search={search} />
          ))}
        </div>
      </details>
      <div className="row end">
        {filtersOf(search) > 0 && (
          <Button kind="quiet" onPress={onClear}>
            {t('payments.filter.clear')}
          </Button>
        )}
        <Button kind="primary" type="submit">
          {t('payments.search')}
        </Button>
      </div>
    </form>
  );
}

const FIELDS = [...TEXT_FIELDS, 'status', 'payment_currency', 'amount', 'amount_range', ...DAY_FIELDS] as const;
type FieldName = (typeof FIELDS)[number] | (typeof MORE_FIELDS)[number];
const PHONE_FIELDS: readonly FieldName[] = ['reference', 'status'];
const DESK_ONLY_FIELDS = [...FIELDS, ...MORE_FIELDS].filter((name) => !PHONE_FIELDS.includes(name));

function FilterField({ name, search }: { name: FieldName; search: SearchTexts }): ReactNode {
  const t = useText();
  const given = { name, label: t(`payments.filter.${name}`), defaultValue: search[name] ?? '', autoComplete: 'off' };
  if (name === 'status')
    return (
      <Select {...given}>
        <option value="">{t('payments.filter.any')}</option>
        {STATUSES.map((status) => (
          <option key={status} value={status}>
            {t(`payments.filter.status.${status}`)}
          </option>
        ))}
      </Select>
    );
  if (name === 'amount_range')
    return (
      <Select {...given} defaultValue={search.amount_range ?? 'equal'}>
        {RANGES.map((range) => (
          <option key={range} value={range}>
            {t(`payments.filter.amount_range.${range}`)}
          </option>
        ))}
      </Select>
    );
  if (name === 'amount') return <TextField {...given} inputMode="numeric" pattern="-?[0-9]{1,10}" />;
  if (name === 'payment_currency') return <TextField {...given} placeholder="EUR,USD" />;
  return <TextField {...given} type={DAY_FIELDS.some((day) => day === name) ? 'date' : 'text'} />;
}
