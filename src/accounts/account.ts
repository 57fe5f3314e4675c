import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { newId } from '../database/cells/identifiers.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { insertRow, type List, type ListRequest, listRows, updateRow } from '../database/rows.ts';
import { requireClient } from '../identity/people/tenant.ts';
import { Problem } from '../values/errors.ts';
import { isUuid } from '../values/identifiers.ts';

export const ACCOUNT_STATUSES = ['Enabled', 'Disabled', 'Deleted'] as const;
export type AccountStatus = (typeof ACCOUNT_STATUSES)[number];
export const ACCOUNT_TYPES = ['Personal', 'Business'] as const;
export const ACCOUNT_SUBTYPES = ['EMoney'] as const;
/** Addresses of one account, under which it can be credited. */
export const MAX_ACCOUNT_DETAILS = 50;

/** Enabled <-> Disabled -> Deleted, which is final (docs/decisions.md, 3). */
const ACCOUNT_MOVES: Record<AccountStatus, readonly AccountStatus[]> = {
  Enabled: ['Disabled'],
  Disabled: ['Enabled', 'Deleted'],
  Deleted: [],
};

/** All are texts; one that was not given is empty (the service interface, Account). */
export interface AccountDetails {
  account_address: string;
  account_name: string;
  account_number: string;
  account_number_type: string;
  bank_identifier: string;
  bank_identifier_type: string;
}

/** Details as the core gives them. */
export type GivenDetails = { [Field in keyof AccountDetails]?: string | null };

/** An account as the client sees it (the service interface, Account). */
export interface Account {
  account_id: string;
  account_subtype: 'EMoney';
  account_type: 'Personal' | 'Business';
  currency: string;
  status: AccountStatus;
  account_details: AccountDetails[];
}

export interface AccountInput {
  client_id: string;
  currency: string;
  account_id?: string;
  account_type?: Account['account_type'];
  account_subtype?: Account['account_subtype'];
  status?: AccountStatus;
  account_details?: GivenDetails[];
}

/** An account and whose it is, for the operator. */
export interface OwnedAccount extends Account {
  client_id: string;
}

const COLUMNS = 'account_id, account_subtype, account_type, currency, status, account_details';
const OWNED = `${COLUMNS}, client_id`;

function details(input: GivenDetails[]): AccountDetails[] {
  return input.map((item) => ({
    account_address: item.account_address ?? '',
    account_name: item.account_name ?? '',
    account_number: item.account_number ?? '',
    account_number_type: item.account_number_type ?? '',
    bank_identifier: item.bank_identifier ?? '',
    bank_identifier_type: item.bank_identifier_type ?? '',
  }));
}

/** @throws Problem already_exists, client_not_found */
export async function createAccount(tx: Transaction, act: Act, input: AccountInput): Promise<OwnedAccount> {
  await requireClient(tx, input.client_id);
  const row = {
    account_id: await newId(tx, input.client_id, 'account_id', input.account_id),
    client_id: input.client_id,
    account_type: input.account_type ?? 'Business',
    account_subtype: input.account_subtype ?? 'EMoney',
    currency: input.currency,
    status: input.status ?? 'Enabled',
    account_details: JSON.stringify(details(input.account_details ?? [])),
    created_at: act.now,
  };
  const account = await insertRow<OwnedAccount>(tx, 'accounts', row, { returning: OWNED });
  await audit(tx, act, {
    action: 'create',
    entity: 'account',
    entityId: account.account_id,
    clientId: input.client_id,
    after: account,
  });
  return account;
}

/** @throws Problem account_not_found, transition_not_allowed */
export async function updateAccount(
  tx: Transaction,
  act: Act,
  accountId: string,
  patch: { status?: AccountStatus; account_details?: GivenDetails[] },
): Promise<OwnedAccount> {
  if (!isUuid(accountId)) noAccount('does not exist');
  const before =
    first(
      await tx.query<OwnedAccount>(`select ${OWNED} from accounts where account_id = $1 for update`, [accountId]),
    ) ?? noAccount('does not exist');
  const moves = ACCOUNT_MOVES[before.status];
  if (patch.status && patch.status !== before.status && !moves.includes(patch.status)) {
    throw new Problem('transition_not_allowed', {
      field: 'status',
      message: `an account that is ${before.status} can become ${moves.join(' or ') || 'nothing else'}`,
    });
  }
  const after = await updateRow<OwnedAccount>(tx, 'accounts', {
    key: { client_id: before.client_id, account_id: accountId },
    values: {
      status: patch.status,
      account_details: patch.account_details && JSON.stringify(details(patch.account_details)),
    },
    returning: OWNED,
  });
  await audit(tx, act, {
    action: 'update',
    entity: 'account',
    entityId: accountId,
    clientId: before.client_id,
    before,
    after,
  });
  return after ?? before;
}

/** An account of the client. @throws Problem account_not_found */
export async function findAccount(db: Db, clientId: string, accountId: string): Promise<Account> {
  if (!isUuid(accountId)) noAccount('does not exist for this client');
  const { rows } = await db.query<Account>({
    name: 'account',
    text: `select ${COLUMNS} from accounts where client_id = $1 and account_id = $2`,
    values: [clientId, accountId],
  });
  return rows[0] ?? noAccount('does not exist for this client');
}

/** Any client's account, for the operator. @throws Problem account_not_found */
export async function readAccount(db: Db, accountId: string): Promise<OwnedAccount> {
  if (!isUuid(accountId)) noAccount('does not exist');
  const { rows } = await db.query<OwnedAccount>(`select ${OWNED} from accounts where account_id = $1`, [accountId]);
  return rows[0] ?? noAccount('does not exist');
}

/** A page of accounts in the order of their creation. */
export function listAccounts(db: Db, request: ListRequest): Promise<List<OwnedAccount>> {
  const list = { select: OWNED, from: 'accounts', client: 'client_id', order: 'created_at, account_id' };
  return listRows<OwnedAccount>(db, list, request);
}

/** @throws Problem account_not_found, always */
function noAccount(message: string): never {
  throw new Problem('account_not_found', { field: 'account_id', message });
}

/** Accounts as the operator reads them, for the change feed. */
export async function readAccounts(db: Db, ids: readonly string[]): Promise<OwnedAccount[]> {
  return (await db.query<OwnedAccount>(`select ${OWNED} from accounts where account_id = any($1::uuid[])`, [ids])).rows;
}
