import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type AccountBalance, accountsQuery, balanceLinesQuery } from '../../data/accounts.ts';
import { SparkLine } from '../../design/line-chart.tsx';
import { Money } from '../../design/money.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { hasMoney } from '../accounts/find-accounts.tsx';
import { isHeld } from '../accounts/holds.tsx';
import { useClient } from '../client.tsx';

/** Accounts shown here; the rest are on the accounts page. */
const SHOWN = 6;

/** What the client has in each currency: how much is available, and the trend of the last days. */
export function Have(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { data, error, refetch } = useQuery(accountsQuery(clientId));
  const { data: lines } = useQuery(balanceLinesQuery(clientId));
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={3} />;
  const { balances } = data;
  if (balances.length === 0) return null;
  const balancesOf = (currency: string) => lines?.find((line) => line.currency === currency)?.balances;
  return (
    <section className="stack tight" aria-labelledby="home-have">
      <div className="row apart">
        <h2 id="home-have">{t('home.have')}</h2>
        {balances.length > SHOWN && (
          <Link to={'/accounts' as never}>{t('home.have.all', { count: balances.length })}</Link>
        )}
      </div>
      <div className="figures">
        {byNeed(balances).map((account) => (
          <Account key={account.account_id} of={account} balances={balancesOf(account.currency)} />
        ))}
      </div>
    </section>
  );
}

/** Accounts with money come first: where there are many, most have none. */
function byNeed(balances: readonly AccountBalance[]): AccountBalance[] {
  const [some, none] = [balances.filter(hasMoney), balances.filter((each) => !hasMoney(each))];
  return [...some, ...none].slice(0, SHOWN);
}

function Account({ of, balances }: { of: AccountBalance; balances: string[] | undefined }): ReactNode {
  const t = useText();
  const { currency, balance, available, held } = of;
  return (
    <div className="card figure">
      <h3>
        <Link to={'/accounts/currencies/$currency' as never} params={{ currency } as never}>
          {currency}
        </Link>
      </h3>
      <p className="figure-count">
        <Money amount={balance} currency={currency} />
      </p>
      <p className="small quiet">
        {t('accounts.available')} <Money amount={available} currency={currency} />
        {isHeld(of) && (
          <>
            {' · '}
            {t('accounts.held')} <Money amount={held} currency={currency} />
          </>
        )}
      </p>
      <div className="figure-line">
        {/* For drawing only: the text above keeps all digits. */}
        {balances && (
          <SparkLine name={t('home.have.line', { currency, days: balances.length })} heights={balances.map(Number)} />
        )}
      </div>
    </div>
  );
}
