import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type BodyOf, callOperator } from '../../data/operator-api.ts';
import { Facts } from '../../design/facts.tsx';
import { Select, TextField } from '../../design/field.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { useText } from '../../texts/text.tsx';
import { Act } from '../acts/act.tsx';
import { useWord } from '../lists/words.ts';

const MODES = ['auto', 'open', 'closed'] as const;

/** When clients can trade FX. */
export function FxPart(): ReactNode {
  const t = useText();
  const word = useWord();
  const { data, error, refetch } = useQuery({
    queryKey: ['GET /fx-availability'],
    queryFn: async ({ signal }) => (await callOperator('GET /fx-availability', { signal })).body,
  });
  if (!data) return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading rows={2} />;
  const { mode, holidays = [] } = data;
  return (
    <>
      <Facts
        facts={[
          { name: t('console.system.mode'), value: word(mode) },
          { name: t('console.system.holidays'), value: holidays.join(', ') || null },
        ]}
      />
      <div className="row">
        <Act
          name={t('console.act.setFx')}
          scope="feed"
          facts={[]}
          fields={
            <>
              <Select label={t('console.system.mode')} name="mode" defaultValue={mode}>
                {MODES.map((each) => (
                  <option key={each} value={each}>
                    {word(each)}
                  </option>
                ))}
              </Select>
              <TextField
                label={t('console.system.holidays')}
                hint={t('console.system.holidays.hint')}
                name="holidays"
                defaultValue={holidays.join(', ')}
              />
            </>
          }
          act={async ({ headers, form }) => {
            const body = {
              mode: form.get('mode'),
              holidays: listOf(form.get('holidays')),
            } as BodyOf<'PUT /fx-availability'>;
            await callOperator('PUT /fx-availability', { body, headers });
            return undefined;
          }}
        />
      </div>
    </>
  );
}

function listOf(text: FormDataEntryValue | null): string[] {
  return String(text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
}
