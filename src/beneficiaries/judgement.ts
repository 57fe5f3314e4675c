import type { Transaction } from '../database/database.ts';
import { LOCKS } from '../database/locks.ts';
import { Problem } from '../values/errors.ts';
import type { PayeeKeys } from './account-key.ts';
import { sameAccount } from './account-key.ts';

/** A planned beneficiary, with what others are compared by. */
export interface Judged extends PayeeKeys {
  currency: string | null;
  /** Its identifier, if it exists already. */
  self: string | null;
}

const LOCK = `select pg_advisory_xact_lock($1, h) from (select distinct hashtext(k) as h from unnest($2::text[]) as k order by h) as l`;
const JUDGE = `select (n.i - 1)::int as index, j.duplicate, j.blocked
  from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
    with ordinality as n(name_key, paid_account, paid_bank, paid_bic, paid_country, currency, self, i)
  cross join lateral (select
    (select b.beneficiary_id from beneficiaries b where b.client_id = $1 and b.active and b.name_key = n.name_key
       and b.paid_account = n.paid_account and b.paid_bank is not distinct from n.paid_bank
       and b.paid_bic is not distinct from n.paid_bic and b.currency = n.currency and b.beneficiary_id is distinct from n.self
     order by b.account_id limit 1) as duplicate,
    exists (select from beneficiaries o where o.client_id = $1 and o.blocked and ${sameAccount('o', 'n')}) as blocked) j
  where j.duplicate is not null or j.blocked order by n.i`;

/** Why a beneficiary is refused. If both apply, the first is reported. */
export interface Refusals {
  blocked: Problem | undefined;
  duplicate: Problem | undefined;
  /** The identifier of the beneficiary that it equals. */
  twin: string | undefined;
}

/**
 * Judges beneficiaries of a client: whether their account is blocked, and whether the client already has one with the same name, account
 * and currency. Two transactions with equal ones wait for each other here.
 * @param options `waits`: false if none of them will be created
 * @returns the refused ones, by index
 */
export async function judgePayees(
  tx: Transaction,
  clientId: string,
  payees: readonly Judged[],
  { waits = true }: { waits?: boolean } = {},
): Promise<Map<number, Refusals>> {
  const keys = payees.map(({ name_key: name, paid_account: account }) => JSON.stringify([clientId, name, account]));
  if (waits) tx.later({ name: 'beneficiaries-lock', text: LOCK, values: [LOCKS.payee, keys] });
  const column = (name: keyof Judged) => payees.map((payee) => payee[name]);
  const { rows } = await tx.query<{ index: number; duplicate: string | null; blocked: boolean }>({
    name: 'beneficiaries-judge',
    text: JUDGE,
    values: [
      ...[clientId, column('name_key'), column('paid_account'), column('paid_bank'), column('paid_bic')],
      ...[column('paid_country'), column('currency'), column('self')],
    ],
  });
  return new Map(
    rows.map(({ index, duplicate, blocked }) => [
      index,
      {
        blocked: blocked ? isBlocked() : undefined,
        duplicate: duplicate === null ? undefined : isDuplicate(`the beneficiary ${duplicate}`),
        twin: duplicate ?? undefined,
      },
    ]),
  );
}

/** The refusal of an account that the institution has blocked. */
export function isBlocked(): Problem {
  return new Problem(
    'beneficiary_blocked',
    'the institution has blocked this beneficiary, or another one with its account',
  );
}

/** The refusal of a payee that the client already has. @param name of the other one */
export function isDuplicate(name: string): Problem {
  return new Problem('beneficiary_duplicate', `${name} has this name, account and currency`);
}
