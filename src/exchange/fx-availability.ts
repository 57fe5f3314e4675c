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

const HOUR_MS = 3_600_000;
/** How far ahead an opening is looked for: longer than any weekend with holidays around it. */
const MAX_CLOSED_HOURS = 31 * 24;

/** When the markets open, if they are closed now; undefined if they stay closed until somebody opens them. They open on a full hour. */
export function nextOpening(setting: FxAvailability, now: Date): Date | undefined {
  if (setting.mode !== 'auto') return undefined;
  const first = Math.floor(now.getTime() / HOUR_MS) + 1;
  for (let hour = first; hour < first + MAX_CLOSED_HOURS; hour += 1) {
    const at = new Date(hour * HOUR_MS);
    if (marketsOpen(setting, at)) return at;
  }
  return undefined;
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
  return marketsOpen(await fxAvailabilityOf(db, clientId), now);
}

/** Whether a client can trade FX now, and if not, from when on. */
export interface Markets {
  open: boolean;
  /** An instant; null if they are open, or if nobody knows. */
  opens_at: string | null;
}

/** @throws Problem fx_not_enabled */
export async function marketsOf(db: Db, clientId: string, now: Date): Promise<Markets> {
  const setting = await fxAvailabilityOf(db, clientId);
  const open = marketsOpen(setting, now);
  return { open, opens_at: open ? null : (nextOpening(setting, now)?.toISOString() ?? null) };
}

async function fxAvailabilityOf(db: Db, clientId: string): Promise<FxAvailability> {
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
  return row;
}
