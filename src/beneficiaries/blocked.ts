import type { Db } from '../database/database.ts';
import { textArray } from '../values/text-array.ts';
import { sameAccount } from './account-key.ts';

/**
 * An expression: whether the account of a payee is blocked. It is, under whatever name and in whatever currency, where a payee of the client
 * with the same account is blocked, one that was deleted included.
 * @param payee SQL of a row of the table `beneficiaries`
 * @param client SQL of its client
 */
export const accountBlocked = (payee: string, client = `${payee}.client_id`): string =>
  `(${payee}.blocked or exists (select from beneficiaries o
    where o.client_id = ${client} and o.blocked and ${sameAccount('o', payee)}))`;

/**
 * Which of some payees have a blocked account, by one statement that can go together with others.
 * @param payees each with its client
 * @returns the beneficiary_ids of those
 */
export async function blockedPayees(
  db: Db,
  payees: readonly { client_id: string; beneficiary_id: string }[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ beneficiary_id: string }>({
    name: 'beneficiaries-blocked',
    text: `select b.beneficiary_id from (select distinct * from unnest($1::text[], $2::text[])) as u(client_id, beneficiary_id)
      cross join lateral (select * from beneficiaries where client_id = u.client_id and beneficiary_id = u.beneficiary_id offset 0) b
      where ${accountBlocked('b', 'u.client_id')}`,
    values: [
      textArray(payees.map(({ client_id: client }) => client)),
      textArray(payees.map(({ beneficiary_id: id }) => id)),
    ],
  });
  return new Set(rows.map((row) => row.beneficiary_id));
}
