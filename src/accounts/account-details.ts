import { type Static, Type } from 'typebox';
import type { Act } from '../audit/act.ts';
import { audit } from '../audit/record.ts';
import { homesOfRecords } from '../database/cells/directory.ts';
import { type Db, first, type Transaction } from '../database/database.ts';
import {
  type Input,
  initially,
  made,
  optional,
  type Patch,
  RecordKind,
  required,
  type Shown,
} from '../database/record.ts';
import { insertRow, type List, type ListRequest, listRows, nextId, updateRow } from '../database/rows.ts';
import { notOfClient, requireClient } from '../identity/people/tenant.ts';
import { Problem, refusedBody } from '../values/errors.ts';
import { isUuid } from '../values/identifiers.ts';
import { ClientId, Country, Currency, closed, Name, Nullable, PATTERNS, Text, Uuid } from '../values/schemas.ts';

/** Where clients pay in: accounts of the institution, for one client or for all. */

export const DETAILS_TYPES = ['dedicated', 'pooled'] as const;
const STATUSES = ['confirmed', 'pending', 'failed'] as const;

const GIVEN_ROUTE = Type.Object(
  {
    account_number: Text('IBAN or domestic number', 64),
    account_number_type: Type.Optional(Nullable(Type.Enum(['IBAN', 'BBAN']))),
    bank_identifier: Type.Optional(Nullable(Text('BIC or clearing code', 64))),
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
);
const word = () => Nullable(Type.String());
const SHOWN_ROUTE = Type.Object(
  {
    account_number: Type.String(),
    account_number_type: word(),
    bank_identifier: word(),
    bank_identifier_type: word(),
  },
  { title: 'PaymentRoute', description: 'An account, for payments within its country, or from abroad' },
);
const EXAMPLE_ROUTE = {
  account_number: 'GB29NWBK60161331926819',
  account_number_type: 'IBAN',
  bank_identifier: 'NWBKGB2L',
  bank_identifier_type: 'SWBIC',
};
const route = (example: object | null) =>
  optional(GIVEN_ROUTE, {
    shown: Nullable(SHOWN_ROUTE),
    normal: (given) => JSON.stringify(routeOf(given)),
    example,
  });
const line = (description: string, maxLength = 140) => optional(Text(description, maxLength), { example: null });

/** Account details in the form that the institution gives and reads. */
export const ACCOUNT_DETAILS = new RecordKind({
  table: 'account_details',
  id: 'account_details_id',
  fields: {
    account_details_id: made(Type.String({ format: 'uuid' }), { example: '5c0d4b8e-6d8e-4c8e-9f0a-3b1c2d4e5f60' }),
    client_id: optional(ClientId, { fixed: true, example: 'CLI000001' }),
    account_id: optional(Uuid('Account of the client'), { example: '0f8fad5b-d9cb-469f-a165-70867728950e' }),
    account_details_type: made(Type.Enum([...DETAILS_TYPES]), {
      elsewhere: "case when client_id is null then 'pooled' else 'dedicated' end",
      example: 'dedicated',
    }),
    currency: required(Currency(), { fixed: true, shown: Type.String(), example: 'EUR' }),
    country: required(Country('Country of the bank'), { shown: Type.String(), example: 'GB' }),
    status: initially(Type.Enum([...STATUSES]), 'confirmed', { example: 'confirmed' }),
    financial_institution_name: required(Name('Bank', 140), { example: 'National Bank' }),
    account_holder_name: required(Name('Holder of the account', 140), { example: 'Ashdown Ltd' }),
    domestic: route({ ...EXAMPLE_ROUTE, account_number: '12345678', account_number_type: 'BBAN' }),
    international: route(EXAMPLE_ROUTE),
    bank_address_line_1: line('Address of the bank'),
    bank_address_line_2: line('Address of the bank, second line'),
    bank_city: line('City of the bank', 35),
    bank_post_code: line('Post code of the bank', 16),
  },
});
export type AccountDetails = Shown<typeof ACCOUNT_DETAILS>;

function routeOf(given: Static<typeof GIVEN_ROUTE>): Static<typeof SHOWN_ROUTE> {
  return {
    account_number: given.account_number,
    account_number_type: given.account_number_type ?? null,
    bank_identifier: given.bank_identifier ?? null,
    bank_identifier_type: given.bank_identifier_type ?? null,
  };
}

/** @throws Problem invalid_body, client_not_found, account_not_found */
export async function createAccountDetails(
  tx: Transaction,
  act: Act,
  input: Input<typeof ACCOUNT_DETAILS>,
): Promise<AccountDetails> {
  const { client_id: clientId = null } = input;
  requireRoute(input);
  if (clientId !== null) await requireClient(tx, clientId);
  await checkAccount(tx, clientId, input.account_id);
  const id = await nextId(tx, 'account_details');
  const row = { ...ACCOUNT_DETAILS.stored(input), account_details_id: id, created_at: act.now };
  const details = await insertRow<AccountDetails>(tx, ACCOUNT_DETAILS.table, row, {
    returning: ACCOUNT_DETAILS.select,
  });
  audit(tx, act, { action: 'create', entity: 'account_details', entityId: id, clientId, after: details });
  return details;
}

/** @throws Problem account_details_not_found, invalid_body, account_not_found */
export async function updateAccountDetails(
  tx: Transaction,
  act: Act,
  id: string,
  patch: Patch<typeof ACCOUNT_DETAILS>,
): Promise<AccountDetails> {
  const before = await find(tx, id, 'for update');
  const { client_id: clientId } = before;
  requireRoute({ ...before, ...patch });
  await checkAccount(tx, clientId, patch.account_id);
  const after = await updateRow<AccountDetails>(tx, ACCOUNT_DETAILS.table, {
    key: { account_details_id: id },
    values: ACCOUNT_DETAILS.changes(patch),
    returning: ACCOUNT_DETAILS.select,
  });
  audit(tx, act, { action: 'update', entity: 'account_details', entityId: id, clientId, before, after });
  return after ?? before;
}

/** Without an account number nobody can pay in. @throws Problem invalid_body */
function requireRoute({ domestic, international }: { domestic?: unknown; international?: unknown }): void {
  if (domestic != null || international != null) return;
  throw refusedBody([{ field: 'domestic', message: 'is required where there is no international', code: 'required' }]);
}

/** @throws Problem invalid_body, account_not_found */
async function checkAccount(tx: Transaction, clientId: string | null, accountId: string | null | undefined) {
  if (accountId == null) return;
  if (clientId === null)
    throw refusedBody([
      { field: 'account_id', message: 'must be left out without a client_id', code: 'invalid_format' },
    ]);
  const homes = await homesOfRecords(tx, 'accounts', [accountId]);
  if (homes.get(accountId)?.clientId !== clientId) throw notOfClient('account_not_found', 'account_id');
}

/** Any account details, for the operator. @throws Problem account_details_not_found */
export async function findAccountDetails(db: Db, id: string): Promise<AccountDetails> {
  return find(db, id);
}

async function find(db: Db, id: string, lock = ''): Promise<AccountDetails> {
  const found = isUuid(id)
    ? first(
        await db.query<AccountDetails>(
          `select ${ACCOUNT_DETAILS.select} from account_details where account_details_id = $1 ${lock}`,
          [id],
        ),
      )
    : undefined;
  if (found) return found;
  throw new Problem('account_details_not_found', { field: 'account_details_id', message: 'does not exist' });
}

/** A page of account details in the order of their creation. */
export function listAccountDetails(
  db: Db,
  { currency, ...request }: ListRequest & { currency?: string | undefined },
): Promise<List<AccountDetails>> {
  const list = {
    ...{ select: ACCOUNT_DETAILS.select, from: ACCOUNT_DETAILS.table, client: 'client_id' },
    ...{ order: 'created_at, account_details_id', filters: [['currency = ?', currency]] as const },
  };
  return listRows<AccountDetails>(db, list, request);
}

/** Account details in the form that the operator reads, for the change feed. */
export async function readAccountDetails(db: Db, ids: readonly string[]): Promise<AccountDetails[]> {
  const { rows } = await db.query<AccountDetails>(
    `select ${ACCOUNT_DETAILS.select} from account_details where account_details_id = any($1::uuid[])`,
    [ids],
  );
  return rows;
}

const OF_CLIENT = [
  ...(['account_details_id', 'account_id', 'account_details_type', 'currency', 'country', 'status'] as const),
  ...(['financial_institution_name', 'account_holder_name', 'domestic', 'international'] as const),
];
const { properties } = Type.Pick(Type.Object(ACCOUNT_DETAILS.shown), [...OF_CLIENT]);
/** Account details in the form that a client sees. */
export const CLIENT_ACCOUNT_DETAILS = Type.Object({
  ...properties,
  reference_for_payment: Type.String({ description: 'By which the institution knows whose money it is' }),
});
type ClientAccountDetails = Static<typeof CLIENT_ACCOUNT_DETAILS>;

/** Where a client pays in: confirmed details, by currency, the client's own before those for all, the oldest first. */
export async function clientAccountDetails(
  db: Db,
  clientId: string,
  { type, currency }: { type?: string | undefined; currency?: string | undefined },
): Promise<ClientAccountDetails[]> {
  const { rows } = await db.query<AccountDetails>({
    name: 'account-details-of-client',
    text: `select ${ACCOUNT_DETAILS.select} from account_details
      where (client_id = $1 or client_id is null) and status = 'confirmed' and ($2::text is null or currency = $2)
      order by currency, client_id nulls last, created_at, account_details_id`,
    values: [clientId, currency ?? null],
  });
  return rows
    .filter((row) => type === undefined || row.account_details_type === type)
    .map((row) => ({ ...ACCOUNT_DETAILS.show(OF_CLIENT, row), reference_for_payment: clientId }));
}

const shownLine = Nullable(Type.String());
/** The account that receives the money for a trade, in the words of the interface. */
export const BANK_ACCOUNT = Type.Object({
  account_number: shownLine,
  iban: shownLine,
  swift_code: shownLine,
  bank_identifier: shownLine,
  bank_identifier_type: shownLine,
  bank_name: shownLine,
  bank_address_line_1: shownLine,
  bank_address_line_2: shownLine,
  bank_city: shownLine,
  bank_post_code: shownLine,
});
export type BankAccount = Static<typeof BANK_ACCOUNT>;

/** Where a client pays in for a currency: its own details before those for all, and the oldest of the confirmed ones. */
export async function bankAccountFor(db: Db, clientId: string, currency: string): Promise<BankAccount | null> {
  const { rows } = await db.query<AccountDetails>({
    name: 'account-details-for-trade',
    text: `select ${ACCOUNT_DETAILS.select} from account_details
      where (client_id = $1 or client_id is null) and status = 'confirmed' and currency = $2
      order by client_id nulls last, created_at, account_details_id limit 1`,
    values: [clientId, currency],
  });
  const [details] = rows;
  if (!details) return null;
  const { domestic, international } = details;
  return {
    account_number: domestic?.account_number ?? null,
    iban: international?.account_number_type === 'IBAN' ? international.account_number : null,
    swift_code: international?.bank_identifier_type === 'SWBIC' ? international.bank_identifier : null,
    bank_identifier: domestic?.bank_identifier ?? null,
    bank_identifier_type: domestic?.bank_identifier_type ?? null,
    bank_name: details.financial_institution_name,
    bank_address_line_1: details.bank_address_line_1,
    bank_address_line_2: details.bank_address_line_2,
    bank_city: details.bank_city,
    bank_post_code: details.bank_post_code,
  };
}
