import { sameAccount } from './account-key.ts';

/**
 * An SQL expression: whether the account of a payee is blocked. It is if any payee of the client with the same account is blocked, under
 * any name, in any currency, and even if deleted.
 * @param payee SQL of a row of the table `beneficiaries`
 * @param client SQL of its client
 */
export const accountBlocked = (payee: string, client = `${payee}.client_id`): string =>
  `(${payee}.blocked or exists (select from beneficiaries o
    where o.client_id = ${client} and o.blocked and ${sameAccount('o', payee)}))`;
