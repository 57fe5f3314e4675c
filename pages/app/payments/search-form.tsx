import type { ReactNode } from 'react';
import type { SearchTexts } from '../../data/payments.ts';
import { Button } from '../../design/button.tsx';
import { Select, TextField } from '../../design/field.tsx';
import { useText } from '../../texts/text.tsx';
import './search-form.css';
import { DAY_FIELDS, filtersOf, MORE_FIELDS, RANGES, STATUSES, searchOfForm, TEXT_FIELDS } from './search-fields.ts';

interface SearchFormProps {
  search: SearchTexts;
  onSearch: (search: SearchTexts) => void;
}

/** The filters of a search, under the names of the API's parameters. */
export function SearchForm({ search, onSearch }: SearchFormProps): ReactNode {
  const t = useText();
  const given = (name: string) => ({ name, defaultValue: search[name] ?? '', autoComplete: 'off' });
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
        {TEXT_FIELDS.map((name) => (
          <TextField key={name} label={t(`payments.filter.${name}`)} {...given(name)} />
        ))}
        <Select label={t('payments.filter.status')} {...given('status')}>
          <option value="">{t('payments.filter.any')}</option>
          {STATUSES.map((status) => (
            <option key={status} value={status}>
              {t(`payments.filter.status.${status}`)}
            </option>
          ))}
        </Select>
        <TextField label={t('payments.filter.payment_currency')} placeholder="EUR,USD" {...given('payment_currency')} />
        <TextField
          label={t('payments.filter.amount')}
          inputMode="numeric"
          pattern="-?[0-9]{1,10}"
          {...given('amount')}
        />
        <Select
          label={t('payments.filter.amount_range')}
          {...given('amount_range')}
          defaultValue={search.amount_range ?? 'equal'}
        >
          {RANGES.map((range) => (
            <option key={range} value={range}>
              {t(`payments.filter.amount_range.${range}`)}
            </option>
          ))}
        </Select>
        {DAY_FIELDS.map((name) => (
          <TextField key={name} type="date" label={t(`payments.filter.${name}`)} {...given(name)} />
        ))}
      </div>
      <details open={MORE_FIELDS.some((name) => search[name]) || undefined}>
        <summary>{t('payments.filter.more')}</summary>
        <div className="fields search-fields">
          {MORE_FIELDS.map((name) => (
            <TextField key={name} label={t(`payments.filter.${name}`)} {...given(name)} />
          ))}
        </div>
      </details>
      <div className="row end">
        {filtersOf(search) > 0 && (
          <Button kind="quiet" onPress={() => onSearch({})}>
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
