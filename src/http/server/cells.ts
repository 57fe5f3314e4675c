import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ClientMoves, holdClients, resumeAbandoned } from '../../database/cells/client-moves.ts';
import { hasSeveralCells } from '../../database/cells/pool.ts';
import { type Cell, type CellScope, inScope } from '../../database/cells/scope.ts';
import type { Db, Pool, Transaction } from '../../database/database.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the statements of the request run; undefined if the database has one cell. */
    cellScope: CellScope | undefined;
  }
}

/** Lets each request of a listener choose its cell. If the database has one cell, requests have no scope, and this costs nothing. */
export function scopeRequests(app: FastifyInstance, pool: Pool): void {
  app.decorateRequest('cellScope', undefined);
  if (!hasSeveralCells(pool)) return;
  app.addHook('onRequest', (request, _reply, done) => {
    request.cellScope = { cell: 'none' };
    inScope(request.cellScope, done);
  });
  // Code after the body has been read would otherwise run in the context in which the connection was opened.
  app.addHook('preValidation', (request, _reply, done) => inScope(request.cellScope ?? { cell: 'none' }, done));
}

/** Runs the request's later statements in a cell. @param clientId the client whose cell it is */
export function enterCell({ cellScope }: FastifyRequest, cell: Cell, clientId?: string): void {
  if (cellScope) Object.assign(cellScope, { cell, clientId });
}

/** Refuses a request of a client that is being moved. @throws ClientMoves */
export async function refuseMoving(db: Db, clientId: string): Promise<never> {
  await resumeAbandoned(db, clientId);
  throw new ClientMoves();
}

/** Keeps the clients of requests in their cells until a change of their records ends. Does nothing if there is one cell. @throws ClientMoves */
export async function holdScopes(tx: Transaction, requests: readonly FastifyRequest[]): Promise<void> {
  const cells = new Map<string, number>();
  for (const { cellScope } of requests)
    if (typeof cellScope?.cell === 'number' && cellScope.clientId !== undefined)
      cells.set(cellScope.clientId, cellScope.cell);
  await holdClients(tx, cells);
}
