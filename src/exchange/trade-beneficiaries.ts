import type { Act } from '../audit/act.ts';
import { noteChange } from '../audit/change.ts';
import type { Transaction } from '../database/database.ts';
import { textArray } from '../values/text-array.ts';
import type { TradeMemory } from './trade-memory.ts';

/** A payment of a trade, and whom it pays. */
interface PaymentOfTrade {
  client_id: string;
  trade_id: string;
  beneficiary_id: string;
}

/**
 * Makes the beneficiaries of new payments beneficiaries of their trades. Notes the trades that change by it: a trade with a list of its
 * core's own does not.
 * @param options `action`: what the change feed calls it. `memory`: of the import that the payments come from
 */
export async function joinTrades(
  tx: Transaction,
  act: Act,
  payments: readonly PaymentOfTrade[],
  { action, memory }: { action: 'update' | 'import'; memory?: TradeMemory | undefined },
): Promise<void> {
  const wanted = new Map(payments.map((each) => [`${each.client_id}\0${each.trade_id}\0${each.beneficiary_id}`, each]));
  const joining = [...wanted.values()];
  // In one order for everybody, so that two imports do not wait for each other.
  const { rows: joined } = await tx.query<PaymentOfTrade>({
    name: 'join-trades',
    text: `with joined as (
        insert into trade_beneficiaries (client_id, trade_id, beneficiary_id)
        select * from unnest($1::text[], $2::text[], $3::text[]) as u(client_id, trade_id, beneficiary_id)
        order by client_id, trade_id, beneficiary_id on conflict do nothing returning client_id, trade_id, beneficiary_id)
      select j.client_id, j.trade_id, j.beneficiary_id from joined j
      join trades t on t.client_id = j.client_id and t.trade_id = j.trade_id and t.beneficiaries is null`,
    values: [
      textArray(joining.map((each) => each.client_id)),
      textArray(joining.map((each) => each.trade_id)),
      textArray(joining.map((each) => each.beneficiary_id)),
    ],
  });
  for (const { client_id: clientId, trade_id: id, beneficiary_id: beneficiaryId } of joined) {
    memory?.join(id, beneficiaryId);
    noteChange(tx, act, { entity: 'trade', id, clientId, action, memory });
  }
}
