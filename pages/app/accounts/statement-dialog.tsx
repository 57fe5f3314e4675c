import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { statementsKey } from '../../data/accounts.ts';
import { callClient } from '../../data/client-api.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Select, TextField } from '../../design/field.tsx';
import { Failure } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';

const FORMATS = ['pdf', 'csv', 'camt.053'] as const;
const DELIVERIES = ['email', 'push', 'both'] as const;

/** Asks for a statement: which days, which format, and how it is sent. */
export function StatementDialog({
  currencies,
  onBack,
  onDone,
}: {
  currencies: string[];
  onBack: () => void;
  onDone: () => void;
}): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const form = useId();
  const [days, setDays] = useState(lastMonth);
  const [currency, setCurrency] = useState(currencies.length === 1 ? (currencies[0] ?? '') : '');
  const [format, setFormat] = useState<(typeof FORMATS)[number]>('pdf');
  const [delivery, setDelivery] = useState<(typeof DELIVERIES)[number]>('email');
  const act = useAct(
    () =>
      callClient('POST /statements/accounts', clientId, {
        body: { ...days, format, delivery, ...(currency === '' ? {} : { currencies: currency }) },
      }),
    [statementsKey(clientId)],
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act.mutate(undefined, { onSuccess: onDone });
  };
  return (
    <Dialog
      title={t('accounts.request')}
      isOpen
      onBack={onBack}
      action={
        <Button kind="primary" type="submit" form={form} isPending={act.isPending}>
          {t('accounts.request')}
        </Button>
      }
    >
      <form id={form} className="fields" onSubmit={submit} noValidate>
        {(['date_from', 'date_to'] as const).map((name) => (
          <TextField
            key={name}
            label={t(`accounts.${name}`)}
            name={name}
            type="date"
            required
            value={days[name]}
            onChange={({ target }) => setDays({ ...days, [name]: target.value })}
          />
        ))}
        <Select
          label={t('accounts.currencies')}
          name="currencies"
          value={currency}
          onChange={({ target }) => setCurrency(target.value)}
        >
          <option value="">{t('accounts.currencies.all')}</option>
          {currencies.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </Select>
        <Select
          label={t('accounts.format')}
          name="format"
          value={format}
          onChange={({ target }) => setFormat(target.value as typeof format)}
        >
          {FORMATS.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </Select>
        <Select
          label={t('accounts.delivery')}
          name="delivery"
          value={delivery}
          onChange={({ target }) => setDelivery(target.value as typeof delivery)}
        >
          {DELIVERIES.map((each) => (
            <option key={each} value={each}>
              {t(`accounts.delivery.${each}`)}
            </option>
          ))}
        </Select>
      </form>
      {act.error && <Failure error={act.error} />}
    </Dialog>
  );
}

/** The first and the last day of the month before this one. */
export function lastMonth(): { date_from: string; date_to: string } {
  const now = new Date();
  const day = (date: Date) => date.toISOString().slice(0, 10);
  return {
    date_from: day(new Date(Date.UTC(now.getFullYear(), now.getMonth() - 1, 1))),
    date_to: day(new Date(Date.UTC(now.getFullYear(), now.getMonth(), 0))),
  };
}
