import pg from 'pg';
import { type Cell, currentCell, inCell } from './cell-scope.ts';
import { PatientPool } from './patient-pool.ts';

type Connected = Parameters<pg.Pool['connect']>[0];

/** Which cells a connection can belong to. */
export interface CellPaths {
  /** The schema of what exists once, and of the first cell. */
  home: string;
}

/** What a connection of a database with several cells knows: the cell that its `search_path` names now, and all others. */
interface Connection {
  paths: CellPaths;
  cell: Cell;
}

const CONNECTIONS = new WeakMap<object, Connection>();

/** The schema of a cell; of the views over all cells. */
export function schemaOf(home: string, cell: Cell): string {
  if (cell === 0) return home;
  return cell === 'all' ? `${home}_cells` : `${home}_cell_${cell}`;
}

/** The `search_path` of a cell. @param local until the end of the transaction */
function pathStatement({ home }: CellPaths, cell: Cell, local = false): string {
  const schemas = [...new Set([schemaOf(home, cell), home])].map((schema) => pg.escapeIdentifier(schema));
  return `set ${local ? 'local ' : ''}search_path = ${schemas.join(', ')}`;
}

/** What pg.Pool keeps of idle connections; the last one is given out next. */
interface Idle {
  _idle: { client: pg.PoolClient }[];
}

/**
 * The pool of a database with several cells. A connection belongs to the cell that its `search_path` names. Who asks for a connection
 * gets one of its own cell (cell-scope.ts): the one that served that cell last, or else the one that has been idle for longest, which
 * then changes its path. PostgreSQL plans each prepared statement of such a connection again.
 */
export class CellPool extends PatientPool {
  readonly paths: CellPaths;

  constructor(config: pg.PoolConfig, paths: CellPaths) {
    super(config);
    this.paths = paths;
    this.on('connect', (client) => CONNECTIONS.set(client, { paths, cell: 0 }));
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const cell = currentCell();
    if (!callback)
      return new Promise((resolve, reject) => {
        this.#connectTo(cell, (error, client) => (client ? resolve(client) : reject(error)));
      });
    this.#connectTo(cell, callback);
    return undefined;
  }

  #connectTo(cell: Cell, callback: Connected): void {
    this.#putForward(cell);
    super.connect((error, client, release) => {
      const connection = client && CONNECTIONS.get(client);
      if (!connection || connection.cell === cell) return callback(error, client, release);
      client.query(pathStatement(this.paths, cell)).then(
        () => {
          connection.cell = cell;
          callback(undefined, client, release);
        },
        (failure: Error) => {
          release(failure);
          callback(failure, undefined, () => {});
        },
      );
    });
  }

  /** Puts the connection that suits a cell where the pool takes the next one from. */
  #putForward(cell: Cell): void {
    const idle = (this as unknown as Idle)._idle;
    const served = idle.findLastIndex(({ client }) => CONNECTIONS.get(client)?.cell === cell);
    // Without one of the cell, a pool that has room opens another connection only where none is idle.
    const [chosen] = idle.splice(Math.max(served, 0), 1);
    if (chosen) idle.push(chosen);
  }
}

/** The cell of a pool that `poolOf` has made. */
const BOUND = new WeakMap<object, Cell>();

/** A pool whose connections belong to one cell, whoever asks for them: for background work. @returns the pool itself where there is one cell */
export function poolOf(pool: pg.Pool, cell: Cell): pg.Pool {
  if (!(pool instanceof CellPool)) return pool;
  const bound = Object.create(pool) as pg.Pool;
  const connect = (callback?: Connected) => inCell(cell, () => (callback ? pool.connect(callback) : pool.connect()));
  const query = (...input: Parameters<pg.Pool['query']>) => inCell(cell, () => pool.query(...input));
  BOUND.set(bound, cell);
  return Object.assign(bound, { connect, query });
}

/** `setUp` of further connections that belong to the cell of a pool; nothing where there is one cell. */
export function setUpOf(pool: pg.Pool): string {
  return pool instanceof CellPool ? `${pathStatement(pool.paths, BOUND.get(pool) ?? 0)};` : '';
}

/**
 * Runs a part of a transaction in another cell of the same database. Statements before and after it stay in the cell of the transaction.
 * @returns what the work returns
 */
export async function withinCell<T>(tx: pg.PoolClient, cell: Cell, work: () => Promise<T>): Promise<T> {
  const connection = CONNECTIONS.get(tx);
  if (!connection || connection.cell === cell) return work();
  const { paths, cell: before } = connection;
  await tx.query(pathStatement(paths, cell, true));
  connection.cell = cell;
  try {
    const result = await work();
    await tx.query(pathStatement(paths, before, true));
    return result;
  } finally {
    // Where the work failed, the rollback brings the path back.
    connection.cell = before;
  }
}

/** Whether the database of a connection has several cells. */
export function hasSeveralCells(db: object): boolean {
  return db instanceof CellPool || CONNECTIONS.has(db);
}
