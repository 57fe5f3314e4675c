import { type Static, Type } from 'typebox';
import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { newId } from '../database/cells/identifiers.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import { chosen, type Input, initially, type Patch, RecordKind, required, type Shown } from '../database/record.ts';
import { insertRow, type List, type ListRequest, listRows, updateRow } from '../database/rows.ts';
import { requireClient } from '../identity/people/tenant.ts';
import { Problem } from '../values/errors.ts';
import { isUuid } from '../values/identifiers.ts';
import { ClientId, Currency, closed, Nullable, PATTERNS, Text, Uuid } from '../values/schemas.ts';

export const ACCOUNT_STATUSES = ['Enabled', 'Disabled', 'Deleted'] as const;
type AccountStatus = (typeof ACCOUNT_STATUSES)[number];
export const ACCOUNT_TYPES = ['Personal', 'Business'] as const;
export const ACCOUNT_SUBTYPES = ['EMoney'] as const;
/** The most addresses of one account under which it can be credited. */
const MAX_ACCOUNT_DETAILS = 50;

/** Enabled <-> Disabled -> Deleted. Deleted is final (docs/decisions.md, 3). */
const ACCOUNT_MOVES: Record<AccountStatus, readonly AccountStatus[]> = {
  Enabled: ['Disabled'],
  Disabled: ['Enabled', 'Deleted'],
  Deleted: [],
};

const shownText = Type.String({ description: 'Empty where it was not given' });
const text = (description: string) => Type.Optional(Nullable(Text(description)));

/** Addresses in the form that the core gives. */
const GIVEN_DETAILS = Type.Array(
  Type.Object(
    {
      account_address: text('Address of the account'),
      account_name: text('Name of the account'),
      account_number: text('IBAN or domestic number'),
      account_number_type: Type.Optional(Nullable(Type.Enum(['IBAN', 'BBAN']))),
      bank_identifier: text('BIC or clearing code'),
      bank_identifier_type: Type.Optional(
        Nullable(
          Type.String({
            pattern: PATTERNS.clearingSystem,
            description: 'SWBIC, or an ISO 20022 clearing system as GBDSC, USABA',
          }),
        ),
      ),
    },
    closed,
  ),
  { maxItems: MAX_ACCOUNT_DETAILS },
);
/** All fields are texts; one that was not given is empty (service interface, Account). */
const SHOWN_DETAILS = Type.Array(
  Type.Object({
    account_address: shownText,
    account_name: shownText,
    account_number: shownText,
    account_number_type: shownText,
    bank_identifier: shownText,
    bank_identifier_type: shownText,
  }),
);

/** An account, with its client (service interface, Account). */
export const ACCOUNT = new RecordKind({
  table: 'accounts',
  id: 'account_id',
  fields: {
    account_id: chosen(Uuid('Chosen by the core; default: a new one'), { shown: Type.String({ format: 'uuid' }) }),
    account_subtype: initially(Type.Enum([...ACCOUNT_SUBTYPES]), 'EMoney', { fixed: true }),
    account_type: initially(Type.Enum([...ACCOUNT_TYPES]), 'Business', { fixed: true }),
    currency: required(Currency(), { fixed: true }),
    status: initially(Type.Enum([...ACCOUNT_STATUSES]), 'Enabled'),
    account_details: initially(GIVEN_DETAILS, '[]', { shown: SHOWN_DETAILS, normal: storedDetails }),
    client_id: required(ClientId, { fixed: true, shown: ClientId }),
  },
});
/** An account in the form that the operator sees. */
export type OwnedAccount = Omit<Shown<typeof ACCOUNT>, 'account_details'> & {
  account_details: Static<typeof SHOWN_DETAILS>;
};
/** An account in the form that the client sees. */
export type Account = Omit<OwnedAccount, 'client_id'>;
export type AccountInput = Input<typeof ACCOUNT>;

function storedDetails(given: Static<typeof GIVEN_DETAILS>): string {
  const names = Object.keys(SHOWN_DETAILS.items.properties) as (keyof Static<typeof GIVEN_DETAILS>[number])[];
  return JSON.stringify(given.map((item) => Object.fromEntries(names.map((name) => [name, item[name] ?? '']))));
}

/** @throws Problem already_exists, client_not_found */
export async function createAccount(tx: Transaction, act: Act, input: AccountInput): Promise<OwnedAccount> {
  await requireClient(tx, input.client_id);
  const stored = ACCOUNT.stored(input);
  const accountId = await newId(tx, input.client_id, 'account_id', input.account_id);
  const row = { ...stored, account_id: accountId, created_at: act.now };
  const account = await insertRow<OwnedAccount>(tx, ACCOUNT.table, row, { returning: ACCOUNT.select });
  audit(tx, act, {
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
  patch: Patch<typeof ACCOUNT>,
): Promise<OwnedAccount> {
  if (!isUuid(accountId)) noAccount('does not exist');
  const before =
    first(
      await tx.query<OwnedAccount>(`select ${ACCOUNT.select} from accounts where account_id = $1 for update`, [
        accountId,
      ]),
    ) ?? noAccount('does not exist');
  const moves = ACCOUNT_MOVES[before.status];
  if (patch.status && patch.status !== before.status && !moves.includes(patch.status)) {
    throw new Problem('transition_not_allowed', {
      field: 'status',
      message: `an account that is ${before.status} can become ${moves.join(' or ') || 'nothing else'}`,
    });
  }
  const after = await updateRow<OwnedAccount>(tx, ACCOUNT.table, {
    key: { client_id: before.client_id, account_id: accountId },
    values: ACCOUNT.changes(patch),
    returning: ACCOUNT.select,
  });
  audit(tx, act, {
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
    text: `select ${ACCOUNT.selectWithout('client_id')} from accounts where client_id = $1 and account_id = $2`,
    values: [clientId, accountId],
  });
  return rows[0] ?? noAccount('does not exist for this client');
}

/** The accounts of a client, by currency, the oldest first. @param currencies default: all */
export async function clientAccounts(db: Db, clientId: string, currencies?: readonly string[]): Promise<Account[]> {
  const { rows } = await db.query<Account>({
    name: 'accounts-of-client',
    text: `select ${ACCOUNT.selectWithout('client_id')} from accounts
      where client_id = $1 and ($2::text[] is null or currency = any($2)) order by currency, created_at, account_id`,
    values: [clientId, currencies ?? null],
  });
  return rows;
}

/** Any client's account, for the operator. @throws Problem account_not_found */
export async function readAccount(db: Db, accountId: string): Promise<OwnedAccount> {
  if (!isUuid(accountId)) noAccount('does not exist');
  const { rows } = await db.query<OwnedAccount>(`select ${ACCOUNT.select} from accounts where account_id = $1`, [
    accountId,
  ]);
  return rows[0] ?? noAccount('does not exist');
}

/** A page of accounts in the order of their creation. */
export function listAccounts(db: Db, request: ListRequest): Promise<List<OwnedAccount>> {
  const list = { select: ACCOUNT.select, from: ACCOUNT.table, client: 'client_id', order: 'created_at, account_id' };
  return listRows<OwnedAccount>(db, list, request);
}

/** @throws Problem account_not_found, always */
function noAccount(message: string): never {
  throw new Problem('account_not_found', { field: 'account_id', message });
}

/** Accounts in the form that the operator reads, for the change feed. */
export async function readAccounts(db: Db, ids: readonly string[]): Promise<OwnedAccount[]> {
  return (
    await db.query<OwnedAccount>(`select ${ACCOUNT.select} from accounts where account_id = any($1::uuid[])`, [ids])
  ).rows;
}
