import { type Pool, transaction } from '../database.ts';
import { LIMITS } from './limits.ts';

/** Reads only what 0010_graphql.sql grants it, of the client that `lombard.client_id` names. */
export const CLIENT_ROLE = 'lombard_client';

/** A connection as PostGraphile's plans use it. */
export interface ReadClient {
  query<R>(options: {
    text: string;
    values?: unknown[];
    arrayMode?: boolean;
  }): Promise<{ rows: R[]; rowCount: number | null; notices: [] }>;
  withTransaction<T>(work: (client: ReadClient) => Promise<T>): Promise<T>;
}

/** What a request's plans need to read the database. */
export type WithReadClient = <T>(settings: unknown, work: (client: ReadClient) => Promise<T>) => Promise<T>;

/**
 * Reads as one client of the institution: each read in a read-only transaction whose role and client are set first, so that
 * row level security holds whatever the statement says. The statement ends after STATEMENT_MS.
 */
export function readAs(pool: Pool, clientId: string): WithReadClient {
  return (_settings, work) =>
    transaction(
      pool,
      async (tx) => {
        await tx.query({
          name: 'graphql-read-as',
          text: "select set_config('statement_timeout', $3, true), set_config('lombard.client_id', $2, true), set_config('role', $1, true)",
          values: [CLIENT_ROLE, clientId, String(LIMITS.STATEMENT_MS)],
        });
        const client: ReadClient = {
          async query<R>({ text, values, arrayMode }: { text: string; values?: unknown[]; arrayMode?: boolean }) {
            const result = await tx.query({
              text,
              values: values as unknown[],
              ...(arrayMode ? { rowMode: 'array' as const } : {}),
            });
            return { rows: result.rows as R[], rowCount: result.rowCount, notices: [] as [] };
          },
          // The whole read is a transaction, at whose end the role is gone.
          withTransaction: (inner) => inner(client),
        };
        return work(client);
      },
      'begin read only',
    );
}
