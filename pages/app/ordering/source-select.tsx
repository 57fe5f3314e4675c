import type { ReactNode } from 'react';
import { Select } from '../../design/field.tsx';
import { formatMoney, Money } from '../../design/money.tsx';
import { useLocale, useText } from '../../texts/text.tsx';
import type { Source } from './draft.ts';

interface SourceSelectProps {
  sources: ReadonlyMap<string, Source>;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}

/** Accounts and trades, with their available amounts. */
export function SourceSelect({ sources, value, error, onChange }: SourceSelectProps): ReactNode {
  const t = useText();
  const locale = useLocale();
  const nameOf = ({ kind, id, currency, available }: Source) =>
    t(`order.from.${kind}`, { id, currency, available: formatMoney(available, currency, locale) });
  const group = (kind: Source['kind']) => {
    const own = [...sources].filter(([, source]) => source.kind === kind);
    if (own.length === 0) return null;
    return (
      <optgroup label={t(kind === 'account' ? 'app.nav.accounts' : 'app.nav.trades')}>
        {own.map(([key, source]) => (
          <option key={key} value={key}>
            {nameOf(source)}
          </option>
        ))}
      </optgroup>
    );
  };
  const chosen = sources.get(value);
  return (
    <Select
      name="source"
      label={t('order.from')}
      hint={chosen && <Available of={chosen} />}
      value={value}
      error={error}
      onChange={({ target }) => onChange(target.value)}
      required
    >
      <option value="">{t('payees.choose')}</option>
      {group('account')}
      {group('trade')}
    </Select>
  );
}

/** The available amount of the chosen source: the closed list has no room for it. */
export function Available({ of: { available, currency } }: { of: { available: string; currency: string } }): ReactNode {
  const t = useText();
  return (
    <>
      {t('accounts.available')} <Money amount={available} currency={currency} />
    </>
  );
}
