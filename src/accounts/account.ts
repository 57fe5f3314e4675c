import { randomUUID } from 'node:crypto';
import { audit } from '../audit.ts';
import type { Act } from '../context.ts';
import type { Db, Transaction } from '../database.ts';
import { Problem } from '../errors.ts';
import { updateRow } from '../rows.ts';
import { requireClient } from '../tenant.ts';

export const ACCOUNT_STATUSES = ['Enabled', 'Disabled', 'Deleted'] as const;
export type AccountStatus = (typeof ACCOUNT_STATUSES)[number];
export const ACCOUNT_TYPES = ['Personal', 'Business'] as const;
export const ACCOUNT_SUBTYPES = ['EMoney'] as const;
/** Addresses under which one account can be credited. */
export const MAX_ACCOUNT_DETAILS = 50;

/** Enabled <-> Disabled -> Deleted, which is final (docs/decisions.md, 3). */
const ACCOUNT_MOVES: Record<AccountStatus, readonly AccountStatus[]> = {
  Enabled: ['Disabled'],
  Disabled: ['Enabled', 'Deleted'],
  Deleted: [],
};

export interface AccountDetails {
  account_address: string | null;
  account_name: string | null;
  account_number: string | null;
  account_number_type: string | null;
  bank_identifier: string | null;
  bank_identifier_type: string | null;
}

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
  account_details?: Partial<AccountDetails>[];
}

const COLUMNS = 'account_id, account_subtype, account_type, currency, status, account_details';

function details(input: Partial<AccountDetails>[]): AccountDetails[] {
  return input.map((item) => ({
    account_address: item.account_address ?? null,
    account_name: item.account_name ?? null,
    account_number: item.account_number ?? null,
    account_number_type: item.account_number_type ?? null,
    bank_identifier: item.bank_identifier ?? null,
    bank_identifier_type: item.bank_identifier_type ?? null,
  }));
}

/** @throws Problem already_exists, client_not_found */
export async function createAccount(
  tx: Transaction,
  act: Act,
  input: AccountInput,
): Promise<Account & { client_id: string }> {
  await requireClient(tx, input.client_id);
  const { rows } = await tx.query<Account & { client_id: string }>(
    `insert into accounts (account_id, client_id, account_type, account_subtype, currency, status, account_details, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${COLUMNS}, client_id`,
    [
      input.account_id ?? randomUUID(),
      input.client_id,
      input.account_type ?? 'Business',
      input.account_subtype ?? 'EMoney',
      input.currency,
      input.status ?? 'Enabled',
      JSON.stringify(details(input.account_details ?? [])),
      act.now,
    ],
  );
  const account = rows[0] as Account & { client_id: string };
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
  patch: { status?: AccountStatus; account_details?: Partial<AccountDetails>[] },
): Promise<Account & { client_id: string }> {
  const before = (
    await tx.query<Account & { client_id: string }>(
      `select ${COLUMNS}, client_id from accounts where account_id = $1 for update`,
      [accountId],
    )
  ).rows[0];
  if (!before) throw new Problem('account_not_found', { field: 'account_id', message: 'is no account' });
  const moves = ACCOUNT_MOVES[before.status];
  if (patch.status && patch.status !== before.status && !moves.includes(patch.status)) {
    throw new Problem('transition_not_allowed', {
      field: 'status',
      message: `an account that is ${before.status} can become ${moves.join(' or ') || 'nothing else'}`,
    });
  }
  const after = await updateRow<Account & { client_id: string }>(
    tx,
    'accounts',
    { client_id: before.client_id, account_id: accountId },
    { status: patch.status, account_details: patch.account_details && JSON.stringify(details(patch.account_details)) },
    `${COLUMNS}, client_id`,
  );
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
  const { rows } = await db.query<Account>({
    name: 'account',
    text: `select ${COLUMNS} from accounts where client_id = $1 and account_id = $2`,
    values: [clientId, accountId],
  });
  if (!rows[0]) throw new Problem('account_not_found', { field: 'account_id', message: 'is no account of the client' });
  return rows[0];
}

/** Any client's account, for the operator. @throws Problem account_not_found */
export async function readAccount(db: Db, accountId: string): Promise<Account & { client_id: string }> {
  const { rows } = await db.query<Account & { client_id: string }>(
    `select ${COLUMNS}, client_id from accounts where account_id = $1`,
    [accountId],
  );
  if (!rows[0]) throw new Problem('account_not_found', { field: 'account_id', message: 'is no account' });
  return rows[0];
}

/** A page of accounts, of one client where it is given. */
export async function listAccounts(db: Db, page: number, pageSize: number, clientId?: string) {
  const where = clientId === undefined ? '' : 'where client_id = $3';
  const values = clientId === undefined ? [] : [clientId];
  const { rows } = await db.query<Account & { client_id: string }>(
    `select ${COLUMNS}, client_id from accounts ${where} order by created_at, account_id limit $1 offset $2`,
    [pageSize, (page - 1) * pageSize, ...values],
  );
  const total = await db.query<{ total: number }>(
    `select count(*) as total from accounts ${where.replace('$3', '$1')}`,
    values,
  );
  return { rows, total: total.rows[0]?.total ?? 0 };
}
