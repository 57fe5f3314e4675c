import { Type } from 'typebox';
import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { type Input, made, optional, RecordKind, type Shown } from '../database/record.ts';
import { requireClient } from '../identity/people/tenant.ts';
import { isExcluded } from '../values/currencies.ts';
import { ClientId, Currency, closed, Nullable } from '../values/schemas.ts';
import { refuse, repeated } from './currency.ts';
import { refuseSpreads, SPREAD, spreads } from './pricing.ts';

const flag = (how: string) =>
  Type.Optional(Type.Boolean({ description: `The client may have it ${how}; default: true` }));
const CURRENCIES = Type.Array(
  Type.Object(
    {
      currency: Currency(),
      buy_allowed: flag('bought'),
      sell_allowed: flag('sold'),
      pay_allowed: flag('paid'),
    },
    closed,
  ),
  {
    maxItems: 200,
    description: 'The client acts in no others; absent: in all',
  },
);
const SHOWN_CURRENCIES = Type.Array(
  Type.Object(
    {
      currency: Type.String(),
      buy_allowed: Type.Boolean(),
      sell_allowed: Type.Boolean(),
      pay_allowed: Type.Boolean(),
    },
    { title: 'AllowedCurrency' },
  ),
);

/** The pricing of one client, and the currencies that it may use. */
export const CLIENT_PRICING = new RecordKind({
  table: 'client_pricing',
  id: 'client_id',
  fields: {
    client_id: made(ClientId, { example: 'CLI000001' }),
    spread_bps: optional(SPREAD, { example: 30 }),
    spreads: spreads(),
    currencies: optional(CURRENCIES, {
      shown: Nullable(SHOWN_CURRENCIES),
      example: [{ currency: 'EUR', buy_allowed: true, sell_allowed: true, pay_allowed: true }],
    }),
    default_currency: optional(Currency('Currency that is offered first'), { example: 'EUR' }),
  },
});
export type ClientPricing = Shown<typeof CLIENT_PRICING>;

/** The pricing of a client for which nothing is set. */
function unset(clientId: string): ClientPricing {
  return { client_id: clientId, spread_bps: null, spreads: [], currencies: null, default_currency: null };
}

/** Selects the pricing of the client `$1`. */
export const CLIENT_PRICING_SELECT = `select ${CLIENT_PRICING.select} from client_pricing where client_id = $1`;

/** Replaces the pricing of a client. @throws Problem client_not_found, invalid_body */
export async function setClientPricing(
  tx: Transaction,
  act: Act,
  clientId: string,
  input: Input<typeof CLIENT_PRICING>,
): Promise<ClientPricing> {
  await requireClient(tx, clientId);
  const currencies = input.currencies?.map((each) => ({
    currency: each.currency,
    buy_allowed: each.buy_allowed ?? true,
    sell_allowed: each.sell_allowed ?? true,
    pay_allowed: each.pay_allowed ?? true,
  }));
  const after: ClientPricing = { ...unset(clientId), ...input, currencies: currencies ?? null };
  refuseSpreads(after.spreads);
  refuse([
    [
      repeated((currencies ?? []).map(({ currency }) => currency)),
      'currencies[].currency',
      'must not name a currency twice',
    ],
  ]);
  const before = await readClientPricing(tx, clientId);
  await tx.query(
    `insert into client_pricing (client_id, spread_bps, spreads, currencies, default_currency) values ($1, $2, $3, $4, $5)
     on conflict (client_id) do update set spread_bps = excluded.spread_bps, spreads = excluded.spreads,
       currencies = excluded.currencies, default_currency = excluded.default_currency`,
    [
      clientId,
      after.spread_bps,
      JSON.stringify(after.spreads),
      currencies ? JSON.stringify(currencies) : null,
      after.default_currency,
    ],
  );
  audit(tx, act, { action: 'update', entity: 'client_pricing', entityId: clientId, clientId, before, after });
  return after;
}

/** The pricing of an existing client, or the default if nothing is set. */
export async function readClientPricing(db: Db, clientId: string): Promise<ClientPricing> {
  return pricingOf(clientId, first(await db.query<ClientPricing>(CLIENT_PRICING_SELECT, [clientId])));
}

/** The pricing of a client from its row, or the default if there is no row. */
export function pricingOf(clientId: string, row: ClientPricing | undefined): ClientPricing {
  return row ?? unset(clientId);
}

/** Like `readClientPricing`, for a client that may not exist. @throws Problem client_not_found */
export async function findClientPricing(db: Db, clientId: string): Promise<ClientPricing> {
  await requireClient(db, clientId);
  return readClientPricing(db, clientId);
}

/** Whether a client may do something with a currency. */
export function isAllowed(
  { currencies }: Pick<ClientPricing, 'currencies'>,
  currency: string,
  what: 'buy_allowed' | 'sell_allowed' | 'pay_allowed',
): boolean {
  if (isExcluded(currency)) return false;
  if (currencies === null) return true;
  return currencies.find((each) => each.currency === currency)?.[what] ?? false;
}
