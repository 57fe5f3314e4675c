import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Transaction } from '../../sdk/src/generated/api.ts';
import type { AccountBalance, AccountOverview, BalanceLine, DayBalance } from '../../src/accounts/account-overview.ts';
import type { Hold } from '../../src/accounts/hold.ts';
import type { StatementProgress } from '../../src/statements/progress.ts';
import { call } from './call.ts';

export type { AccountBalance, AccountOverview, StatementProgress };

/** A transaction in the form that events use, with its kind and its payment. */
export interface TransactionRecord extends Transaction {
  kind: string;
  payment_id: string | null;
}

/** The most statement requests shown. */
const SHOWN_STATEMENTS = 10;
/** How often the state of a statement is refreshed: while one is in progress, and otherwise. */
const BUSY_MS = 2_000;
const QUIET_MS = 30_000;
/** How often balances and transactions are refreshed. */
const BALANCES_MS = 15_000;

/** The accounts of a client, with their balances. */
export const accountsQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['accounts', clientId],
    refetchInterval: BALANCES_MS,
    queryFn: async ({ signal }) =>
      (await call<AccountOverview>('GET', '/app/data/accounts', { query: { client_id: clientId }, signal })).body,
  });

/** Holds per page. */
export const HOLDS_SHOWN = 10;

/** An open hold as it arrives: its amount is a number that keeps its digits. */
export type OpenHold = Pick<Hold, 'hold_id' | 'payment_id' | 'trade_id' | 'currency'> & {
  amount: number;
  opened_at: string;
};

/** A page of the holds on the client's accounts, or on one of them, oldest first. */
export const holdsQuery = (clientId: string, accountId: number | undefined, page: number) =>
  queryOptions({
    queryKey: [...accountsQuery(clientId).queryKey, 'holds', accountId, page],
    refetchInterval: BALANCES_MS,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<{ rows: OpenHold[]; total: number }> => {
      const query = { client_id: clientId, currency_account_id: accountId, page, page_size: HOLDS_SHOWN };
      const { body, total = 0 } = await call<OpenHold[]>('GET', '/app/data/holds', { query, signal });
      return { rows: body, total };
    },
  });

/** The closing balance of each of the last days. */
export const balancesQuery = (clientId: string, currency: string) =>
  queryOptions({
    queryKey: ['balances', clientId, currency],
    refetchInterval: BALANCES_MS,
    queryFn: async ({ signal }) =>
      (await call<DayBalance[]>('GET', '/app/data/balances', { query: { client_id: clientId, currency }, signal }))
        .body,
  });

/** The balances of each currency account over the last days. */
export const balanceLinesQuery = (clientId: string) =>
  queryOptions({
    queryKey: ['balances', clientId],
    refetchInterval: BALANCES_MS,
    queryFn: async ({ signal }) =>
      (await call<BalanceLine[]>('GET', '/app/data/balance-lines', { query: { client_id: clientId }, signal })).body,
  });

/** A page of transactions, newest first. */
export const transactionsQuery = (
  clientId: string,
  wanted: { currency_account_id: number; page: number; page_size: number },
) =>
  queryOptions({
    queryKey: ['transactions', clientId, wanted],
    refetchInterval: BALANCES_MS,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { client_id: clientId, ...wanted };
      const { body, total = 0 } = await call<TransactionRecord[]>('GET', '/app/data/transactions', { query, signal });
      return { rows: body, total };
    },
  });

export const statementsKey = (clientId: string) => ['statements', clientId];

/** The statement requests and their results, newest first. */
export const statementsQuery = (clientId: string) =>
  queryOptions({
    queryKey: statementsKey(clientId),
    queryFn: async ({ signal }): Promise<StatementProgress[]> => {
      const query = { client_id: clientId, page_size: SHOWN_STATEMENTS };
      return (await call<StatementProgress[]>('GET', '/app/data/statements', { query, signal })).body;
    },
    refetchInterval: ({ state }) =>
      state.data?.some((each) => each.state === 'queued' || each.state === 'running') ? BUSY_MS : QUIET_MS,
  });
