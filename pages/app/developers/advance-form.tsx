import { useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { callClient } from '../../data/client-api.ts';
import { choicesQuery, type Destination } from '../../data/sandbox.ts';
import { Button } from '../../design/button.tsx';
import { Select, TextField } from '../../design/field.tsx';
import { Status } from '../../design/notice.tsx';
import { Failure } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';

/** Moves a payment forward through its allowed states. */
export function AdvanceForm(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { data } = useQuery(choicesQuery(clientId));
  const [id, setId] = useState('');
  const [to, setTo] = useState<Destination>('next');
  const [isTried, setTried] = useState(false);
  const act = useAct(async () => {
    const path = { payment_id: id.trim() };
    return (await callClient('POST /sandbox/payments/{payment_id}/advance', clientId, { path, body: { to } })).body;
  });
  const isMissing = id.trim() === '';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (!isMissing) act.mutate();
  };
  return (
    <section className="card" aria-label={t('developers.advance')}>
      <form className="stack" onSubmit={submit} noValidate>
        <h2>{t('developers.advance')}</h2>
        <TextField
          label={t('developers.payment')}
          name="payment_id"
          autoComplete="off"
          maxLength={64}
          value={id}
          error={isTried && isMissing ? t('developers.payment.missing') : undefined}
          onChange={({ target }) => setId(target.value)}
        />
        <Select
          label={t('developers.to')}
          name="to"
          value={to}
          onChange={({ target }) => setTo(target.value as Destination)}
        >
          {(data?.destinations ?? [to]).map((each) => (
            <option key={each}>{each}</option>
          ))}
        </Select>
        <div className="row">
          <Button kind="primary" type="submit" isPending={act.isPending}>
            {t('developers.advance')}
          </Button>
        </div>
        <Status>{act.data && t('developers.advanced', { id: act.data.payment_id, status: act.data.status })}</Status>
        {act.error && <Failure error={act.error} />}
      </form>
    </section>
  );
}
