import pg from 'pg';
import { isDistributed } from '../../database/cells/pool.ts';
import { type Pool, transaction } from '../../database/database.ts';
import { LIMITS } from './limits.ts';

/** The database role of requests. It can read only the columns that 0010_graphql.sql grants, of the client in `lombard.client_id`. */
export const CLIENT_ROLE = 'lombard_client';

/** A connection for PostGraphile's plans. */
export interface ReadClient {
  query<R>(options: {
    text: string;
    values?: unknown[];
    arrayMode?: boolean;
  }): Promise<{ rows: R[]; rowCount: number | null; notices: [] }>;
  withTransaction<T>(work: (client: ReadClient) => Promise<T>): Promise<T>;
}

/** How the plans of a request read the database. */
export type WithReadClient = <T>(settings: unknown, work: (client: ReadClient) => Promise<T>) => Promise<T>;

const readAsStatement = (clientId: string) => ({
  name: 'graphql-read-as',
  text: "select set_config('statement_timeout', $3, true), set_config('lombard.client_id', $2, true), set_config('role', $1, true)",
  values: [CLIENT_ROLE, clientId, String(LIMITS.STATEMENT_MS)],
});

/** Citus passes only `set local` on to the worker that has the rows. */
const distributedReadAs = (clientId: string) => ({
  text: `set local statement_timeout = ${LIMITS.STATEMENT_MS}; set local citus.propagate_set_commands = 'local';
    set local lombard.client_id = ${pg.escapeLiteral(clientId)}; set local role ${CLIENT_ROLE}`,
});

/**
 * Reads as one client of the institution. Each read is a read-only transaction that first sets role and client, so row level security
 * applies to any statement. The statement ends after STATEMENT_MS.
 */
export function readAs(pool: Pool, clientId: string): WithReadClient {
  return (_settings, work) =>
    transaction(
      pool,
      async (tx) => {
        await tx.query(isDistributed(tx) ? distributedReadAs(clientId) : readAsStatement(clientId));
        const client: ReadClient = {
          async query({ text, values, arrayMode }: { text: string; values?: unknown[]; arrayMode?: boolean }) {
            const result = await tx.query({
              text,
              values,
              ...(arrayMode ? { rowMode: 'array' as const } : {}),
            });
            return { rows: result.rows, rowCount: result.rowCount, notices: [] };
          },
          // The whole read is a transaction; its end resets the role.
          withTransaction: (inner) => inner(client),
        };
        return work(client);
      },
      'begin read only',
    );
}
