import { Type } from 'typebox';
import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import type { Db, Transaction } from '../database/database.ts';
import { type Input, RecordKind, required } from '../database/record.ts';
import { type Exact, exact } from '../values/json.ts';
import { MAX_RATE_DECIMALS } from '../values/money.ts';
import { Currency, closed, DecimalNumber, ExactNumber } from '../values/schemas.ts';
import { givenDecimal, refuse, repeated } from './currency.ts';
import type { ForwardPoint } from './price.ts';

const MAX_TENORS = 500;
/** Days from today of the last tenor. */
const MAX_TENOR_DAYS = 3_660;

const POINTS_RANGE = { signed: true, decimals: MAX_RATE_DECIMALS };
const POINTS = Type.Array(
  Type.Object(
    {
      days: Type.Integer({ minimum: 0, maximum: MAX_TENOR_DAYS, description: 'Calendar days from today' }),
      points: DecimalNumber('What is added to the rate; it may be negative', POINTS_RANGE),
    },
    closed,
  ),
  { maxItems: MAX_TENORS, description: 'By days, each once; without any the pair has none' },
);
const SHOWN_POINTS = Type.Array(
  Type.Object({ days: Type.Integer(), points: ExactNumber('What is added to the rate') }, { title: 'ForwardPoint' }),
);

/** The forward points of a pair. */
export const FORWARD_POINTS = new RecordKind({
  table: 'forward_points',
  id: 'sell_currency',
  fields: {
    sell_currency: required(Currency('Sold currency'), { shown: Type.String(), example: 'GBP' }),
    buy_currency: required(Currency('Bought currency'), { shown: Type.String(), example: 'EUR' }),
    points: required(POINTS, {
      shown: SHOWN_POINTS,
      example: [
        { days: 30, points: -0.0012 },
        { days: 90, points: -0.0035 },
      ],
    }),
  },
});
/** Forward points in an answer. They keep their digits. */
export interface PairPoints {
  sell_currency: string;
  buy_currency: string;
  points: { days: number; points: Exact }[];
}
/** Forward points as they are stored. */
export interface PointsRow {
  sell_currency: string;
  buy_currency: string;
  points: ForwardPoint[];
}

/** Replaces the forward points of a pair. @throws Problem invalid_body */
export async function setForwardPoints(
  tx: Transaction,
  act: Act,
  { sell_currency: sold, buy_currency: bought, points: given }: Input<typeof FORWARD_POINTS>,
): Promise<PairPoints> {
  refuse([
    [sold === bought ? 0 : -1, 'buy_currency', 'must differ from sell_currency'],
    [repeated(given.map(({ days }) => days)), 'points[].days', 'must not be given twice'],
  ]);
  const points = given
    .map(({ days, points: text }, index) => ({
      days,
      points: givenDecimal(text, `points[${index}].points`, POINTS_RANGE),
    }))
    .toSorted((one, other) => one.days - other.days);
  const { rows } = await tx.query<PointsRow & Record<string, unknown>>(
    `${POINTS_SELECT} where sell_currency = $1 and buy_currency = $2 for update`,
    [sold, bought],
  );
  await tx.query(
    points.length === 0
      ? 'delete from forward_points where sell_currency = $1 and buy_currency = $2'
      : `insert into forward_points (sell_currency, buy_currency, points) values ($1, $2, $3)
         on conflict (sell_currency, buy_currency) do update set points = excluded.points`,
    points.length === 0 ? [sold, bought] : [sold, bought, JSON.stringify(points)],
  );
  const pair = { sell_currency: sold, buy_currency: bought };
  const after = shown({ ...pair, points });
  audit(tx, act, {
    ...{ action: 'update', entity: 'forward_points', entityId: `${sold}${bought}` },
    before: shown(rows[0] ?? { ...pair, points: [] }),
    after,
  });
  return after;
}

export const POINTS_SELECT = 'select sell_currency, buy_currency, points from forward_points';

/** The forward points of all pairs that have some, in the order of their currencies. */
export async function readForwardPoints(db: Db): Promise<PairPoints[]> {
  const { rows } = await db.query<PointsRow & Record<string, unknown>>(
    `${POINTS_SELECT} order by sell_currency, buy_currency`,
  );
  return rows.map(shown);
}

function shown({ points, ...pair }: PointsRow): PairPoints {
  return { ...pair, points: points.map(({ days, points: text }) => ({ days, points: exact(text) as Exact })) };
}
