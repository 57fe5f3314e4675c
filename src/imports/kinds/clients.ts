import { refreshApprovers } from '../../approvals/workflow.ts';
import { cellForNewClient } from '../../database/cells/directory.ts';
import { type Columns, copyRows } from '../../database/copy.ts';
import { type ClientInput, updateClient } from '../../identity/people/client.ts';
import { londonDay } from '../../values/calendar.ts';
import { fromSequence, resolveIds } from '../identifiers.ts';
import { type Comparison, type ImportKind, type ImportRow, type ImportScope, Refusals, sameNames } from '../kind.ts';

const IDS = { table: 'clients', column: 'client_id', make: fromSequence('client_numbers', 'CLI') };

/** A line with the cell that its client goes to. */
interface ClientRow extends ImportRow<ClientInput> {
  cell?: number | undefined;
}

const columns = ({ act, vault }: ImportScope): Columns<ClientRow> => ({
  client_id: ({ id }) => id,
  client_name: ({ input }) => input.client_name,
  account_number: ({ input }) => input.account_number,
  status: ({ input }) => input.status ?? 'enabled',
  fx_enabled: ({ input }) => input.fx_enabled ?? true,
  mass_payments_customer: ({ input }) => input.mass_payments_customer ?? false,
  authorisation_workflow: ({ input }) => input.authorisation_workflow ?? 'simple',
  payment_approvals_enabled: ({ input }) => input.payment_approvals_enabled ?? false,
  payment_creator_approval_enabled: ({ input }) => input.payment_creator_approval_enabled ?? false,
  approval_step_up: ({ input }) => input.approval_step_up ?? false,
  statement_push_url: ({ input }) => input.statement_push_url,
  statement_push_secret: ({ input: { statement_push_secret: secret } }) =>
    secret ? vault.seal(secret, 'statement_push_secret') : null,
  became_client: ({ input }) => input.became_client ?? londonDay(act.now),
  cell: ({ cell }) => cell ?? 0,
  created_at: () => act.now,
});

const COMPARISON: Comparison = {
  table: 'clients',
  id: 'client_id',
  fields: sameNames(
    ...['client_name', 'account_number', 'status', 'fx_enabled', 'mass_payments_customer', 'authorisation_workflow'],
    ...['payment_approvals_enabled', 'payment_creator_approval_enabled', 'approval_step_up', 'statement_push_url'],
    ...['statement_push_secret', 'became_client'],
  ),
  forms: {
    statement_push_secret: (secret, vault) =>
      Buffer.isBuffer(secret) ? vault.open(secret, 'statement_push_secret') : secret || null,
  },
  chosen: ['became_client'],
};

/** Clients (docs/imports.md). */
export const clientImport: ImportKind<ClientInput, ClientRow> = {
  entity: 'client',
  batchRows: 5_000,
  comparison: COMPARISON,
  update: {
    fixed: [],
    async write(tx, rows, { act, vault }) {
      for (const { id, input } of rows) await updateClient(tx, act, vault, { clientId: id as string, patch: input });
      await refreshApprovers(tx, act, ...rows.map(({ id }) => id as string));
    },
  },

  read: (line, input) => ({ line, input, id: input.client_id }),

  async check(tx, rows) {
    const refusals = new Refusals();
    await resolveIds(tx, rows, refusals, IDS);
    // All of a batch go to one cell, and those of the next to another.
    const cell = await cellForNewClient(tx);
    for (const row of rows) row.cell = cell;
    return refusals;
  },

  insert: (tx, rows, scope) => copyRows(tx, 'clients', columns(scope), rows),
};
