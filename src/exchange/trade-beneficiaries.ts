import type { Act } from '../audit/act.ts';
import { noteChange } from '../audit/change.ts';
import type { Transaction } from '../database/database.ts';
import { textArray } from '../values/text-array.ts';
import type { TradeMemory } from './trade-memory.ts';

/** A payment that a trade funds, with its beneficiary. */
export interface PaymentOfTrade {
  client_id: string;
  trade_id: string;
  beneficiary_id: string;
}

/** The key of a payment's trade and beneficiary in a map. */
export function joinKey({ client_id: client, trade_id: trade, beneficiary_id: beneficiary }: PaymentOfTrade): string {
  return `${client}\0${trade}\0${beneficiary}`;
}

/**
 * Adds the beneficiaries of new payments to their trades. A trade whose core sent a list of its own is not changed.
 * @returns the changes, by `joinKey`
 */
export async function joinTrades(
  tx: Transaction,
  payments: readonly PaymentOfTrade[],
): Promise<Map<string, PaymentOfTrade>> {
  if (payments.length === 0) return new Map();
  const joining = [...new Map(payments.map((each) => [joinKey(each), each])).values()];
  // Sorted in one order for everybody, so that two imports do not deadlock.
  const { rows: joined } = await tx.query<PaymentOfTrade & Record<string, unknown>>({
    name: 'join-trades',
    text: `with joined as (
        insert into trade_beneficiaries (client_id, trade_id, beneficiary_id)
        select * from unnest($1::text[], $2::text[], $3::text[]) as u(client_id, trade_id, beneficiary_id)
        order by client_id, trade_id, beneficiary_id on conflict do nothing returning client_id, trade_id, beneficiary_id)
      select j.client_id, j.trade_id, j.beneficiary_id from joined j
      cross join lateral (
        select from trades where client_id = j.client_id and trade_id = j.trade_id and beneficiaries is null offset 0) t`,
    values: [
      textArray(joining.map((each) => each.client_id)),
      textArray(joining.map((each) => each.trade_id)),
      textArray(joining.map((each) => each.beneficiary_id)),
    ],
  });
  return new Map(joined.map((each) => [joinKey(each), each]));
}

/** Notes that a trade has a further beneficiary. @param options `action`: its name in the change feed; `memory`: of an import */
export function noteJoin(
  tx: Transaction,
  act: Act,
  { client_id: clientId, trade_id: id, beneficiary_id: beneficiaryId }: PaymentOfTrade,
  { action, memory }: { action: 'update' | 'import'; memory?: TradeMemory | undefined },
): void {
  memory?.join(id, beneficiaryId);
  noteChange(tx, act, { entity: 'trade', id, clientId, action, memory });
}
