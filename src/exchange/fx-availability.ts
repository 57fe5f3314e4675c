import { Type } from 'typebox';
import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import type { Db, Transaction } from '../database/database.ts';
import { type Input, initially, RecordKind, required, type Shown } from '../database/record.ts';
import { isCalendarDay, newYorkTime } from '../values/calendar.ts';
import { Problem } from '../values/errors.ts';
import { Day } from '../values/schemas.ts';

const FX_MODES = ['auto', 'open', 'closed'] as const;
/** The most days in the list of holidays, on which markets are closed. */
const MAX_HOLIDAYS = 1_000;

/** When clients can trade FX. */
export const FX_SETTING = new RecordKind({
  table: 'fx_availability',
  id: 'mode',
  fields: {
    mode: required(Type.Enum([...FX_MODES])),
    holidays: initially(Type.Array(Day('A day without markets'), { maxItems: MAX_HOLIDAYS }), undefined, {
      shown: Type.Array(Type.String({ format: 'date' })),
    }),
  },
});
export type FxAvailability = Shown<typeof FX_SETTING>;

const SUNDAY = 0;
const FRIDAY = 5;
const SATURDAY = 6;
/** 17:00 in New York, in minutes after midnight. The FX week begins and ends at this time. */
const CHANGE_OF_DAY_MINUTES = 17 * 60;

/** Whether FX markets are open: Sunday 17:00 to Friday 17:00 in New York, except on holidays (New York's calendar days). */
export function marketsOpen(setting: FxAvailability, now: Date): boolean {
  if (setting.mode !== 'auto') return setting.mode === 'open';
  const { weekday, minutes, day } = newYorkTime(now);
  if (setting.holidays.includes(day)) return false;
  if (weekday === SATURDAY) return false;
  if (weekday === SUNDAY) return minutes >= CHANGE_OF_DAY_MINUTES;
  if (weekday === FRIDAY) return minutes < CHANGE_OF_DAY_MINUTES;
  return true;
}

export async function readFxAvailability(db: Db): Promise<FxAvailability> {
  const { rows } = await db.query<FxAvailability>('select mode, holidays::text[] as holidays from fx_availability');
  return rows[0] ?? { mode: 'auto', holidays: [] };
}

/** @throws Problem invalid_body, naming the first holiday that is not a calendar day */
export async function setFxAvailability(
  tx: Transaction,
  act: Act,
  { mode, holidays = [] }: Input<typeof FX_SETTING>,
): Promise<FxAvailability> {
  const wrong = holidays.findIndex((day) => !isCalendarDay(day));
  if (wrong >= 0)
    throw new Problem('invalid_body', { field: `holidays[${wrong}]`, message: 'must be a calendar day as YYYY-MM-DD' });
  const before = await readFxAvailability(tx);
  const after = { mode, holidays: [...new Set(holidays)].sort() };
  await tx.query('update fx_availability set mode = $1, holidays = $2::date[]', [after.mode, after.holidays]);
  audit(tx, act, { action: 'update', entity: 'fx_availability', entityId: 'fx_availability', before, after });
  return after;
}

/**
 * Whether the client can trade FX now (GET /quotes/fx-availability).
 * @throws Problem fx_not_enabled if the client may not trade FX at all
 */
export async function fxAvailable(db: Db, clientId: string, now: Date): Promise<boolean> {
  const { rows } = await db.query<FxAvailability & { fx_enabled: boolean }>({
    name: 'fx-available',
    text: 'select f.mode, f.holidays::text[] as holidays, c.fx_enabled from clients c, fx_availability f where c.client_id = $1',
    values: [clientId],
  });
  const row = rows[0];
  if (!row?.fx_enabled)
    throw new Problem('fx_not_enabled', {
      field: 'client_id',
      message: 'the client may not trade FX; ask the institution to enable it',
    });
  return marketsOpen(row, now);
}
