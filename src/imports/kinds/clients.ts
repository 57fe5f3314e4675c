import { refreshApprovers } from '../../approvals/refresh.ts';
import { cellForNewClient } from '../../database/cells/directory.ts';
import { copyRows } from '../../database/copy.ts';
import type { Stored } from '../../database/record.ts';
import { CLIENT, type ClientInput, storedClient, updateClient } from '../../identity/people/client.ts';
import { present } from '../../values/unknown.ts';
import { resolveIds } from '../identifiers.ts';
import { type ImportKind, type ImportRow, Refusals } from '../kind.ts';

/** A line with the values to store, and the cell for its client. */
interface ClientRow extends ImportRow<ClientInput> {
  stored: Stored;
  cell?: number | undefined;
}

/** Clients (docs/imports.md). */
export const clientImport: ImportKind<ClientInput, ClientRow> = {
  entity: 'client',
  batchRows: 5_000,
  comparison: CLIENT.comparison,
  update: {
    fixed: CLIENT.fixed,
    async write(tx, rows, { act, vault, notify }) {
      for (const { id, input } of rows) await updateClient(tx, act, vault, { clientId: present(id), patch: input });
      await refreshApprovers(tx, { ...act, quiet: !notify }, ...rows.map(({ id }) => present(id)));
    },
  },

  read: (line, input, { act, vault }) => ({
    line,
    input,
    id: input.client_id,
    stored: storedClient(input, { now: act.now, vault }),
  }),

  async check(tx, rows) {
    const refusals = new Refusals();
    await resolveIds(tx, rows, refusals, 'client');
    // All clients of a batch go to one cell, and those of the next batch to another.
    const cell = await cellForNewClient(tx);
    for (const row of rows) row.cell = cell;
    return refusals;
  },

  insert(tx, rows, { act: { now } }) {
    const columns = CLIENT.copied<ClientRow>({
      client_id: ({ id }) => id,
      cell: ({ cell }) => cell ?? 0,
      created_at: () => now,
    });
    return copyRows(tx, CLIENT.table, columns, rows);
  },
};
