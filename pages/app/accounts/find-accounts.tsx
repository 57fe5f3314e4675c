import { type ReactNode, useState } from 'react';
import type { AccountBalance } from '../../data/accounts.ts';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { useLanguage, useText } from '../../texts/text.tsx';
import { currencyNames } from '../names.ts';

/** From so many currencies on, one is looked for by typing, and accounts without money are folded. */
const MANY = 9;

/** Whether money is on an account, or was held there. */
export const hasMoney = ({ balance, held }: Pick<AccountBalance, 'balance' | 'held'>) => /[1-9]/.test(balance + held);

interface Found<Row> {
  /** The rows to show. */
  rows: Row[];
  /** The field that finds a currency by its code or name; undefined where a look is enough. */
  field: ReactNode;
  /** What shows and hides the accounts without money; undefined if there are none, or few. */
  fold: ReactNode;
}

/** Leaves of many accounts those that a person looks for: where nothing is typed, those with money. */
export function useFoundAccounts<Row extends { currency: string; account: AccountBalance | undefined }>(
  all: readonly Row[],
): Found<Row> {
  const t = useText();
  const language = useLanguage();
  const [text, setText] = useState('');
  const [isUnfolded, setUnfolded] = useState(false);
  if (all.length < MANY) return { rows: [...all], field: undefined, fold: undefined };
  const names = new Map(
    currencyNames(
      all.map(({ currency }) => currency),
      language,
    ),
  );
  const sought = plain(text);
  const named = all.filter(({ currency }) => plain(names.get(currency) ?? currency).includes(sought));
  const rich = all.filter(({ account }) => account && hasMoney(account));
  const isFolding = sought === '' && rich.length > 0 && rich.length < all.length;
  const rows = isFolding && !isUnfolded ? rich : named;
  const field = (
    <>
      <TextField
        label={t('accounts.find')}
        hint={t('accounts.find.hint')}
        type="search"
        name="currency"
        autoComplete="off"
        maxLength={60}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <p className="quiet small" role="status">
        {sought !== '' && t('accounts.found', { count: named.length })}
      </p>
    </>
  );
  const fold = isFolding && (
    <div className="row">
      <Button kind="quiet" aria-expanded={isUnfolded} onPress={() => setUnfolded(!isUnfolded)}>
        {t(isUnfolded ? 'accounts.empty.hide' : 'accounts.empty.show', { count: all.length - rich.length })}
      </Button>
    </div>
  );
  return { rows, field, fold };
}

/** Letters without case and accents: `zloty` finds `złoty`. */
function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').replace(/ł/gi, 'l').trim().toLowerCase();
}
