import { type Static, type TObject, Type } from 'typebox';
import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { A_ZONE, CutoffTime, CutoffZone, givenDecimal, refuse } from '../exchange/currency.ts';
import { isTimeZone } from '../values/calendar.ts';
import { isCountry } from '../values/countries.ts';
import { exact } from '../values/json.ts';
import { Currency, closed, DecimalNumber, ExactNumber, Nullable } from '../values/schemas.ts';
import { SCHEMES } from './declaration.ts';
import { DEFAULT_RULES, OPEN_RULE, type SchemeRule } from './schemes.ts';

/** The institution's table of payment schemes. */

const MAX_RULES = 500;
const A_PLACE = 'must be SEPA, or a country of ISO 3166-1, two capital letters as GB, or XK';
const PLACE = 'Country of the payee’s bank (ISO 3166-1 alpha-2), or SEPA; null: any';

/** The properties of a body that replaces the table. */
export const SCHEME_FIELDS = {
  rules: Type.Array(
    Type.Object(
      {
        payment_currency: Currency('Currency of the payment'),
        bank_country: Type.Optional(Nullable(Type.String({ pattern: '^([A-Z]{2}|SEPA)$', description: PLACE }))),
        maximum: Type.Optional(Nullable(DecimalNumber('Largest amount, included; null: any', { positive: true }))),
        scheme: Type.Enum([...SCHEMES]),
        cutoff_time: Type.Optional(Nullable(CutoffTime('Orders of today are taken before it'))),
        cutoff_timezone: Type.Optional(CutoffZone('Zone of cutoff_time')),
        every_day: Type.Optional(Type.Boolean({ description: 'Weekends and holidays count as business days' })),
      },
      closed,
    ),
    { maxItems: MAX_RULES, description: 'The first that fits a payment decides; without one it is SWIFT' },
  ),
};

/** The table in the form of an answer. */
export const SHOWN_SCHEMES = Type.Object({
  rules: Type.Array(
    Type.Object(
      {
        payment_currency: Type.String(),
        bank_country: Nullable(Type.String({ description: PLACE })),
        maximum: Nullable(ExactNumber('Largest amount, included')),
        scheme: Type.Enum([...SCHEMES]),
        cutoff_time: Nullable(Type.String()),
        cutoff_timezone: Type.String(),
        every_day: Type.Boolean(),
      },
      { title: 'SchemeRule' },
    ),
  ),
});
type ShownSchemes = Static<typeof SHOWN_SCHEMES>;

/** Selects the table that is set: one row, or none. */
export const SCHEMES_SELECT = 'select rules from payment_schemes';

/** Replaces the table. @throws Problem invalid_body */
export async function setSchemes(
  tx: Transaction,
  act: Act,
  input: Static<TObject<typeof SCHEME_FIELDS>>,
): Promise<ShownSchemes> {
  const rules = input.rules.map((each, index): SchemeRule => {
    const { cutoff_timezone: zone, maximum, bank_country: country } = each;
    return {
      payment_currency: each.payment_currency,
      bank_country: country ?? null,
      maximum: maximum == null ? null : givenDecimal(maximum, `rules[${index}].maximum`, { positive: true }),
      scheme: each.scheme,
      cutoff_time: each.cutoff_time ?? OPEN_RULE.cutoff_time,
      cutoff_timezone: zone ?? OPEN_RULE.cutoff_timezone,
      every_day: each.every_day ?? OPEN_RULE.every_day,
    };
  });
  refuse([
    [rules.findIndex((each) => !isPlace(each.bank_country)), 'rules[].bank_country', A_PLACE],
    [rules.findIndex((each) => !isTimeZone(each.cutoff_timezone)), 'rules[].cutoff_timezone', A_ZONE],
  ]);
  const before = shown(await readSchemes(tx));
  await tx.query(
    'insert into payment_schemes (rules) values ($1) on conflict ("only") do update set rules = excluded.rules',
    [JSON.stringify(rules)],
  );
  const after = shown(rules);
  audit(tx, act, { action: 'update', entity: 'payment_schemes', entityId: 'payment_schemes', before, after });
  return after;
}

function isPlace(place: string | null): boolean {
  return place === null || place === 'SEPA' || isCountry(place);
}

/** The rules of the table, or the default rules if nothing is set. */
export async function readSchemes(db: Db): Promise<readonly SchemeRule[]> {
  return first(await db.query<{ rules: SchemeRule[] }>(SCHEMES_SELECT))?.rules ?? DEFAULT_RULES;
}

/** The table in the form that the operator reads. */
export function shown(rules: readonly SchemeRule[]): ShownSchemes {
  return { rules: rules.map((each) => ({ ...each, maximum: exact(each.maximum) })) };
}
