import { type Static, Type } from 'typebox';
import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import type { Db, Transaction } from '../database/database.ts';
import { type Input, initially, RecordKind, type Shown } from '../database/record.ts';
import type { Config } from '../settings/config.ts';
import { Currency, closed } from '../values/schemas.ts';
import { refuse, repeated } from './currency.ts';

/** In hundredths of a percent. */
const MAX_SPREAD_BPS = 5_000;
const DEFAULT_SPREAD_BPS = 50;
const QUOTE_SECONDS = { minimum: 5, maximum: 3_600, default: 30 };
/** The greatest age in seconds of a table of rates that quotes may use; 0 allows any age. */
const DEFAULT_RATE_AGE_SECONDS = { sandbox: 0, production: 300 };
const MAX_RATE_AGE_SECONDS = 31_622_400;
const MAX_SPREADS = 1_000;

/** The schema of a spread in requests. */
export const SPREAD = Type.Integer({ minimum: 0, maximum: MAX_SPREAD_BPS, description: 'Hundredths of a percent' });
const SPREADS = Type.Array(
  Type.Object(
    { sell_currency: Currency('Sold currency'), buy_currency: Currency('Bought currency'), spread_bps: SPREAD },
    closed,
  ),
  { maxItems: MAX_SPREADS, description: 'Of pairs, each for its direction only' },
);
const SHOWN_SPREADS = Type.Array(
  Type.Object(
    { sell_currency: Type.String(), buy_currency: Type.String(), spread_bps: Type.Integer() },
    { title: 'Spread' },
  ),
);
type Spread = Static<typeof SPREADS>[number];
const EXAMPLE_SPREADS = [{ sell_currency: 'GBP', buy_currency: 'EUR', spread_bps: 40 }];

/** A whole number that callers may leave out. */
function whole(fallback: number | undefined, limits: { minimum: number; maximum: number }, description: string) {
  const shown = Type.Integer({ description });
  return initially(Type.Integer({ ...limits, description }), fallback, { shown });
}
/** The field with the spreads of pairs. */
export const spreads = () => initially(SPREADS, '[]', { shown: SHOWN_SPREADS, example: EXAMPLE_SPREADS });

/** The pricing of all clients. */
export const PRICING = new RecordKind({
  table: 'pricing',
  id: 'quote_seconds',
  fields: {
    quote_seconds: whole(QUOTE_SECONDS.default, QUOTE_SECONDS, 'How long a quote is open'),
    default_spread_bps: whole(
      DEFAULT_SPREAD_BPS,
      { minimum: 0, maximum: MAX_SPREAD_BPS },
      'Spread where no other one applies, hundredths of a percent',
    ),
    rate_max_age_seconds: whole(
      undefined,
      { minimum: 0, maximum: MAX_RATE_AGE_SECONDS },
      'Age of a table of rates up to which quotes use it; 0: no limit',
    ),
    spreads: spreads(),
  },
});
export type Pricing = Shown<typeof PRICING>;

export type Environment = Config['environment'];

/** Replaces the pricing. @throws Problem invalid_body */
export async function setPricing(
  tx: Transaction,
  act: Act,
  environment: Environment,
  input: Input<typeof PRICING>,
): Promise<Pricing> {
  const after = { ...defaultPricing(environment), ...input };
  refuseSpreads(after.spreads);
  const before = await readPricing(tx, environment);
  await tx.query(
    `insert into pricing (quote_seconds, default_spread_bps, rate_max_age_seconds, spreads) values ($1, $2, $3, $4)
     on conflict ("only") do update set quote_seconds = excluded.quote_seconds, default_spread_bps = excluded.default_spread_bps,
       rate_max_age_seconds = excluded.rate_max_age_seconds, spreads = excluded.spreads`,
    [after.quote_seconds, after.default_spread_bps, after.rate_max_age_seconds, JSON.stringify(after.spreads)],
  );
  audit(tx, act, { action: 'update', entity: 'pricing', entityId: 'pricing', before, after });
  return after;
}

/** The pricing of all clients, or the default if nothing is set. */
export async function readPricing(db: Db, environment: Environment): Promise<Pricing> {
  const { rows } = await db.query<Pricing>(`select ${PRICING.select} from pricing`);
  return rows[0] ?? defaultPricing(environment);
}

/** The pricing of all clients if nothing is set. */
export function defaultPricing(environment: Environment): Pricing {
  return {
    quote_seconds: QUOTE_SECONDS.default,
    default_spread_bps: DEFAULT_SPREAD_BPS,
    rate_max_age_seconds: DEFAULT_RATE_AGE_SECONDS[environment],
    spreads: [],
  };
}

/** @throws Problem invalid_body */
export function refuseSpreads(list: readonly Spread[]): void {
  refuse([
    [
      list.findIndex(({ sell_currency: sold, buy_currency: bought }) => sold === bought),
      'spreads[].buy_currency',
      'must differ from sell_currency',
    ],
    [
      repeated(list.map(({ sell_currency: sold, buy_currency: bought }) => `${sold} ${bought}`)),
      'spreads[]',
      'must not name a pair twice',
    ],
  ]);
}
