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
