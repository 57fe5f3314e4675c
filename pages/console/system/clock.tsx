import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { callOperator } from '../../data/operator-api.ts';
import { TextField } from '../../design/field.tsx';
import { Moment } from '../../design/moment.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { Act } from '../acts/act.tsx';

const HOUR_SECONDS = 3_600;
const LIVE_MS = 5_000;

/** The sandbox's clock, which sets the time of everything. */
export function ClockPart(): ReactNode {
  const t = useText();
  const { data, error, refetch } = useQuery({
    queryKey: ['GET /clock'],
    queryFn: async ({ signal }) => (await callOperator('GET /clock', { signal })).body,
    refetchInterval: LIVE_MS,
  });
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={1} />;
  return (
    <>
      <p>
        <Moment at={data.now} />{' '}
        <span className="quiet">{t('console.system.ahead', { seconds: Math.round(data.offset_ms / 1_000) })}</span>
      </p>
      <div className="row">
        <Act
          name={t('console.act.advance')}
          scope="system"
          facts={[]}
          fields={
            <TextField
              label={t('console.system.seconds')}
              name="seconds"
              type="number"
              min={1}
              defaultValue={HOUR_SECONDS}
            />
          }
          act={async ({ headers, form }) => {
            await callOperator('PUT /clock', { body: { advance_seconds: Number(form.get('seconds')) }, headers });
            return undefined;
          }}
        />
        <Act
          name={t('console.act.resetClock')}
          scope="system"
          facts={[]}
          act={async ({ headers }) => {
            await callOperator('DELETE /clock', { headers });
            return undefined;
          }}
        />
      </div>
    </>
  );
}
