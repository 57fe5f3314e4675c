import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hasSeveralCells } from '../cell-pool.ts';
import { type Cell, type CellScope, inScope } from '../cell-scope.ts';
import type { Pool } from '../database.ts';

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
    request.cellScope = { cell: 0 };
    inScope(request.cellScope, done);
  });
  // What comes after the body runs where the connection was opened.
  app.addHook('preValidation', (request, _reply, done) => inScope(request.cellScope ?? { cell: 0 }, done));
}

/** From here on the statements of the request run in a cell. */
export function enterCell({ cellScope }: FastifyRequest, cell: Cell): void {
  if (cellScope) cellScope.cell = cell;
}
