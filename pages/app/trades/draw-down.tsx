import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { decimal } from '../../../sdk/src/decimal.ts';
import { accountsQuery } from '../../data/accounts.ts';
import { readAmount } from '../../data/amount.ts';
import { CallError } from '../../data/call-error.ts';
import { liveKey } from '../../data/payments.ts';
import { drawDown, type ListedTrade } from '../../data/trades.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Facts } from '../../design/facts.tsx';
import { TextField } from '../../design/field.tsx';
import { Moment } from '../../design/moment.tsx';
import { Money } from '../../design/money.tsx';
import { useRefusal } from '../../design/refusal.ts';
import { Failure } from '../../design/states.tsx';
import { useLocale, useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';
import { ReasonSelect } from '../reason-select.tsx';
import { FORWARD_REASONS } from '../reasons.ts';
import { faultsOf } from './faults.ts';
import { PayFrom } from './pay-from.tsx';
import { Rate } from './rate.tsx';

/** Maximum characters of an amount, including group separators. */
const MAX_AMOUNT_LENGTH = 40;

interface DrawDownProps {
  trade: ListedTrade;
  /** The remaining amount, as a decimal text. */
  left: string;
  /** Called when it has become a trade of its own. */
  onDone: (id: string) => void;
}

/** `Draw down`: takes part of a window forward at its rate. */
export function DrawDown(props: DrawDownProps): ReactNode {
  const t = useText();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onPress={() => setOpen(true)}>{t('trades.drawDown')}</Button>
      {isOpen && (
        <DrawDownDialog
          {...props}
          onBack={() => setOpen(false)}
          onDone={(id) => {
            setOpen(false);
            props.onDone(id);
          }}
        />
      )}
    </>
  );
}

function DrawDownDialog({ trade, left, onBack, onDone }: DrawDownProps & { onBack: () => void }): ReactNode {
  const t = useText();
  const form = useId();
  const { trade_id: id, buy_currency: bought, sell_currency: sold, maturity_date: due } = trade;
  const { field, submit, error, isPending } = useDrawdown(id, onDone);
  return (
    <Dialog
      title={t('trades.drawDown')}
      isOpen
      onBack={onBack}
      action={
        <Button kind="primary" type="submit" form={form} isPending={isPending}>
          {t('trades.drawDown')}
        </Button>
      }
    >
      <Facts
        facts={[
          { name: t('trades.trade'), value: id },
          { name: t('trades.unallocated'), value: <Money amount={left} currency={bought} /> },
          { name: t('trades.rate'), value: <Rate sold={sold} bought={bought} rate={decimal(trade, 'rate')} /> },
          { name: t('trades.due'), value: <Moment at={due} /> },
        ]}
      />
      <form id={form} className="stack" onSubmit={submit} noValidate>
        <TextField
          {...field('buy_amount')}
          label={t('exchange.buy_amount')}
          hint={bought}
          inputMode="decimal"
          autoComplete="off"
          maxLength={MAX_AMOUNT_LENGTH}
          required
        />
        <TextField
          {...field('value_date')}
          label={t('exchange.value_date')}
          hint={t('exchange.value_date.hint')}
          type="date"
        />
        <ReasonSelect {...field('reason')} label={t('exchange.reason')} reasons={FORWARD_REASONS} required />
        <PayFrom {...field('funding_account_id')} currency={sold} />
      </form>
      {error && <Failure error={error} />}
    </Dialog>
  );
}

/** The form of a drawdown: its texts and their errors. */
function useDrawdown(id: string, onDone: (id: string) => void) {
  const t = useText();
  const say = useRefusal();
  const locale = useLocale();
  const { client_id: clientId } = useClient();
  const [texts, setTexts] = useState({ buy_amount: '', value_date: '', reason: '', funding_account_id: '' });
  // The same fields are sent under the same key, so that they draw down once even if an answer was lost.
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const act = useAct(
    (amount: string) => {
      const { value_date: valueDate, reason, funding_account_id: account } = texts;
      return drawDown(clientId, id, { amount, valueDate, reason, account }, key);
    },
    [liveKey(clientId), accountsQuery(clientId).queryKey],
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (act.isPending) return;
    const amount = readAmount(texts.buy_amount, locale);
    setFaults(new Map());
    act.reset();
    if (amount === undefined) {
      setFaults(new Map([['buy_amount', t(texts.buy_amount === '' ? 'fault.required' : 'trades.fault.amount')]]));
      return;
    }
    act.mutate(amount, {
      onSuccess: ({ trade_id: drawn }) => onDone(drawn),
      onError: (error) => setFaults(faultsOf(error, { amount: 'buy_amount', required: t('fault.required'), say })),
    });
  };
  const field = (name: keyof typeof texts) => ({
    name,
    value: texts[name],
    error: faults.get(name),
    onChange: ({ target }: { target: { value: string } }) => {
      setTexts({ ...texts, [name]: target.value });
      setKey(crypto.randomUUID());
    },
  });
  const isPlaced = act.error instanceof CallError && faults.size > 0;
  return { field, submit, error: isPlaced ? undefined : act.error, isPending: act.isPending };
}
