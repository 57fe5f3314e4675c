import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ClientMoves, holdClients, resumeAbandoned } from '../../database/cells/client-moves.ts';
import { hasSeveralCells } from '../../database/cells/pool.ts';
import { type Cell, type CellScope, inScope } from '../../database/cells/scope.ts';
import type { Db, Pool, Transaction } from '../../database/database.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the statements of the request run; undefined where the database has one cell. */
    cellScope: CellScope | undefined;
  }
}

/** Lets each request of a listener choose its cell. Where the database has one cell, requests have no scope, and this costs nothing. */
export function scopeRequests(app: FastifyInstance, pool: Pool): void {
  app.decorateRequest('cellScope', undefined);
  if (!hasSeveralCells(pool)) return;
  app.addHook('onRequest', (request, _reply, done) => {
    request.cellScope = { cell: 'none' };
    inScope(request.cellScope, done);
  });
  // What comes after the body runs where the connection was opened.
  app.addHook('preValidation', (request, _reply, done) => inScope(request.cellScope ?? { cell: 'none' }, done));
}

/** From here on the statements of the request run in a cell. @param clientId whose cell it is */
export function enterCell({ cellScope }: FastifyRequest, cell: Cell, clientId?: string): void {
  if (cellScope) Object.assign(cellScope, { cell, clientId });
}

/** Refuses a request of a client that is being moved. @throws ClientMoves */
export async function refuseMoving(db: Db, clientId: string): Promise<never> {
  await resumeAbandoned(db, clientId);
  throw new ClientMoves();
}

/** Begins a change of what belongs to a client: until it ends, the client stays in its cell. Nothing where there is one. @throws ClientMoves */
export async function holdScope(tx: Transaction, { cellScope }: FastifyRequest): Promise<void> {
  if (typeof cellScope?.cell !== 'number' || cellScope.clientId === undefined) return;
  await holdClients(tx, new Map([[cellScope.clientId, cellScope.cell]]));
}
