import { londonDay } from '../calendar.ts';
import type { ClientGiven } from '../identity/client.ts';
import { copyRows } from './copy.ts';
import { type ImportKind, Refusals } from './kind.ts';
import { nextIds, settleIds } from './lookups.ts';

export interface ClientRow {
  given: ClientGiven;
  clientId: string | undefined;
}

const COLUMNS = [
  'client_id',
  'client_name',
  'account_number',
  'status',
  'fx_enabled',
  'mass_payments_customer',
  'authorisation_workflow',
  'payment_approvals_enabled',
  'payment_creator_approval_enabled',
  'statement_push_url',
  'statement_push_secret',
  'became_client',
  'created_at',
] as const;

/** Clients (docs/imports.md). */
export const clientImport: ImportKind<ClientGiven, ClientRow> = {
  entity: 'client',
  batchLines: 5_000,

  read: (given) => ({ given, clientId: given.client_id }),

  async check(tx, rows) {
    const refusals = new Refusals();
    await settleIds(
      tx,
      rows,
      refusals,
      { name: 'clients', column: 'client_id' },
      {
        get: (row) => row.clientId,
        set: (row, id) => {
          row.clientId = id;
        },
      },
      (count) => nextIds(tx, 'client_numbers', 'CLI', count),
    );
    return refusals;
  },

  async insert(tx, rows, { act, vault }) {
    await copyRows(
      tx,
      'clients',
      COLUMNS,
      rows.map(({ row: { given, clientId } }) => [
        clientId,
        given.client_name,
        given.account_number,
        given.status ?? 'enabled',
        given.fx_enabled ?? true,
        given.mass_payments_customer ?? false,
        given.authorisation_workflow ?? 'simple',
        given.payment_approvals_enabled ?? false,
        given.payment_creator_approval_enabled ?? false,
        given.statement_push_url,
        given.statement_push_secret ? vault.seal(given.statement_push_secret, 'statement_push_secret') : null,
        given.became_client ?? londonDay(act.now),
        act.now,
      ]),
    );
  },
};
