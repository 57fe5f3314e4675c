import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { readAmount } from '../../data/amount.ts';
import { MAX_PAYMENTS } from '../../data/ordering.ts';
import { type Offer, termsOf } from '../../data/quotes.ts';
import { addDecimals } from '../../data/sums.ts';
import { Button } from '../../design/button.tsx';
import { Money } from '../../design/money.tsx';
import { Alert, Status } from '../../design/notice.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { useLocale, useText } from '../../texts/text.tsx';
import { useClient } from '../client.tsx';
import { useClosedMarkets } from '../exchange/closed-markets.ts';
import { PayeeForm } from '../payees/payee-form.tsx';
import { ReasonSelect } from '../reason-select.tsx';
import {
  currencyOf,
  type Draft,
  exchangeOf,
  type Line,
  needsExchange,
  newLine,
  payableOf,
  type Source,
  sourceFor,
  withLine,
} from './draft.ts';
import { LineFields } from './line-fields.tsx';
import { Price } from './price.tsx';
import { SourceSelect } from './source-select.tsx';
import { Closed, type useOrder } from './use-order.ts';
import { usePrice } from './use-price.ts';

interface OrderFormProps {
  draft: Draft;
  sources: ReadonlyMap<string, Source>;
  order: ReturnType<typeof useOrder>;
  /** Made of the draft as it is then: what arrives meanwhile is not lost. */
  onChange: (change: (now: Draft) => Draft) => void;
}

/** The form of an order: its source of funds, its reason, and its payments. */
export function OrderForm({ draft, sources, order, onChange }: OrderFormProps): ReactNode {
  const t = useText();
  const locale = useLocale();
  const { client_id: clientId, permissions } = useClient();
  const [payeeOf, setPayeeOf] = useState<string>();
  const source = sources.get(draft.source);
  const currency = currencyOf(draft, source);
  const mayTrade = permissions.includes('can_trade');
  const price = usePrice(clientId, mayTrade ? exchangeOf(draft, source, locale) : undefined);
  const closed = useClosedMarkets(mayTrade && needsExchange(draft, source));
  const said = closed?.until ? t('order.closed.until', { time: closed.until }) : t('order.closed');
  const isRefused = order.unplaced instanceof Closed;
  const { faults, setFaults } = order;
  const form = useRef<HTMLFormElement>(null);
  useFirstFault(form, faults);
  const clear = (...names: string[]) => setFaults(new Map([...faults].filter(([field]) => !names.includes(field))));
  const change = (key: string, fields: Partial<Line>) => {
    const index = draft.lines.findIndex((line) => line.key === key);
    onChange((now) => withLine(now, key, fields, sources));
    const settled = sourceFor(fields.payee, sources) ? ['source'] : [];
    clear(...Object.keys(fields).map((name) => `${index}.${name}`), ...settled);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    order.review({ draft, source, offer: price.offer });
  };
  const add = () => {
    onChange((now) => ({ ...now, lines: [...now.lines, newLine()] }));
    requestAnimationFrame(() =>
      [...(form.current?.querySelectorAll<HTMLElement>('[name=payee]') ?? [])].at(-1)?.focus(),
    );
  };
  const remove = (key: string) => {
    onChange((now) => ({ ...now, lines: now.lines.filter((line) => line.key !== key) }));
    setFaults(new Map());
  };
  return (
    <>
      <form ref={form} className="stack" onSubmit={submit} noValidate>
        <div className="card order-source">
          <SourceSelect
            sources={sources}
            value={draft.source}
            error={faults.get('source')}
            onChange={(value) => {
              onChange((now) => ({ ...now, source: value }));
              clear('source');
            }}
          />
          <ReasonSelect
            name="reason"
            label={t('order.reason')}
            hint={source?.kind === 'trade' && t('payees.optional')}
            value={draft.reason}
            error={faults.get('reason')}
            onChange={({ target }) => {
              onChange((now) => ({ ...now, reason: target.value }));
              clear('reason');
            }}
          />
        </div>
        {draft.lines.map((line, index) => (
          <LineFields
            key={line.key}
            line={line}
            place={draft.lines.length > 1 ? index + 1 : undefined}
            currency={currency}
            source={source}
            settles={price.offer && termsOf(price.offer).value_date}
            faultOf={(field) => faults.get(`${index}.${field}`)}
            onChange={(fields) => change(line.key, fields)}
            onNewPayee={permissions.includes('can_manage_beneficiaries') ? () => setPayeeOf(line.key) : undefined}
            onRemove={() => remove(line.key)}
          />
        ))}
        <Status tone="warn">{closed && !isRefused && said}</Status>
        <PriceOf price={price} />
        <div className="order-end">
          {draft.lines.length < MAX_PAYMENTS && <Button onPress={add}>{t('order.add')}</Button>}
          <Button kind="primary" type="submit" isPending={order.isPending}>
            {t('order.review')}
          </Button>
          <Total lines={draft.lines} currency={currency} />
        </div>
        {isRefused && <Alert>{said}</Alert>}
        {order.unplaced && !isRefused && <Failure error={order.unplaced} />}
      </form>
      {payeeOf !== undefined && (
        <PayeeForm
          onBack={() => setPayeeOf(undefined)}
          onDone={(made) => {
            if (made) change(payeeOf, { payee: payableOf(made) });
            setPayeeOf(undefined);
          }}
        />
      )}
    </>
  );
}

/** What several payments come to, while they are written. */
function Total({ lines, currency }: { lines: readonly Line[]; currency: string | undefined }): ReactNode {
  const t = useText();
  const locale = useLocale();
  const amounts = lines.map(({ amount }) => readAmount(amount, locale)).filter((amount) => amount !== undefined);
  if (lines.length === 1 || currency === undefined || amounts.length === 0) return null;
  return (
    <p className="order-total">
      <span className="quiet">{t('order.total', { count: amounts.length })}</span>{' '}
      <strong>
        <Money amount={addDecimals(amounts)} currency={currency} />
      </strong>
    </p>
  );
}

/** After a refusal the first field that is wrong has the focus. */
function useFirstFault(form: { current: HTMLFormElement | null }, faults: ReadonlyMap<string, string>): void {
  const count = useRef(0);
  useEffect(() => {
    if (faults.size > count.current) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
    count.current = faults.size;
  }, [form, faults]);
}

function PriceOf({
  price,
}: {
  price: { offer: Offer | undefined; error: unknown; isPending: boolean; renew: () => void };
}): ReactNode {
  if (price.offer) return <Price offer={price.offer} onRenew={price.renew} />;
  if (price.error) return <Failure error={price.error} onRetry={price.renew} />;
  return price.isPending && <Loading rows={1} />;
}
