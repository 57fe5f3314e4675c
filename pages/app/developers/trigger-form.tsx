import { useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { callClient } from '../../data/client-api.ts';
import { choicesQuery, type SandboxEvent } from '../../data/sandbox.ts';
import { Button } from '../../design/button.tsx';
import { Select } from '../../design/field.tsx';
import { Status } from '../../design/notice.tsx';
import { Failure } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { useAct } from '../act.ts';
import { useClient } from '../client.tsx';

/** Causes a notification with real data. */
export function TriggerForm(): ReactNode {
  const t = useText();
  const { client_id: clientId } = useClient();
  const { data } = useQuery(choicesQuery(clientId));
  const [event, setEvent] = useState<SandboxEvent>('PAYMENT_STATUS_CHANGE');
  const act = useAct(async () => (await callClient('POST /sandbox/trigger', clientId, { body: { event } })).body);
  const submit = (submitted: FormEvent) => {
    submitted.preventDefault();
    act.mutate();
  };
  return (
    <section className="card" aria-label={t('developers.trigger')}>
      <form className="stack" onSubmit={submit}>
        <h2>{t('developers.trigger')}</h2>
        <Select
          label={t('developers.event')}
          name="event"
          hint={t('developers.event.hint')}
          value={event}
          onChange={({ target }) => setEvent(target.value as SandboxEvent)}
        >
          {(data?.events ?? [event]).map((each) => (
            <option key={each}>{each}</option>
          ))}
        </Select>
        <div className="row">
          <Button kind="primary" type="submit" isPending={act.isPending}>
            {t('developers.trigger')}
          </Button>
        </div>
        <Status>
          {act.data &&
            t('developers.triggered', { event: act.data.event, id: `${act.data.entity} ${act.data.entity_id}` })}
        </Status>
        {act.error && <Failure error={act.error} />}
      </form>
    </section>
  );
}
