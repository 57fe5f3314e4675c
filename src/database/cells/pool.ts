import pg from 'pg';
import { databaseFault, SILENCE } from '../fault.ts';
import { PatientPool } from '../patient-pool.ts';
import { type CellPaths, CONNECTIONS, type Connection, pathStatement, schemaOf } from './connection.ts';
import { type Cell, currentCell, inCell } from './scope.ts';
import { CellTurns } from './turns.ts';

/**
 * Where an answer may take longer than so many milliseconds, the callers of one cell have half of the connections at most: one that has gone
 * silent leaves the other half to the others. Requests give up sooner, and have all.
 */
const MAX_SHARED_MS = 5_000;

/** Connections of a pool for what commits by itself beside a transaction; each has one for some milliseconds. */
const MAX_BESIDE_CONNECTIONS = 2;

type Connected = Parameters<pg.Pool['connect']>[0];

/** What pg.Pool keeps of idle connections; the last one is given out next. */
interface Idle {
  _idle: { client: pg.PoolClient }[];
}

/**
 * The pool of a database with several cells. A connection belongs to the cell that its `search_path` names. Who asks for a connection
 * gets one of its own cell (scope.ts): the one that served that cell last, or else the one that has been idle for longest, which
 * then changes its path. PostgreSQL plans each prepared statement of such a connection again.
 */
export class CellPool extends PatientPool {
  readonly paths: CellPaths;
  /** Connections of the first cell for what commits by itself beside a transaction; undefined where all cells are in one PostgreSQL. */
  readonly beside: PatientPool | undefined;

  readonly #ownSessions: boolean;
  readonly #turns: CellTurns | undefined;

  /** @param options `ownSessions`: false behind a pooler in transaction mode, where each transaction sets its path (pooled-client.ts) */
  constructor(config: pg.PoolConfig, paths: CellPaths, { ownSessions }: { ownSessions: boolean }) {
    super(config);
    this.paths = paths;
    this.#ownSessions = ownSessions;
    const { max = 0, query_timeout: limitMs = 0, connectionTimeoutMillis: waitMs = 0 } = config;
    if (limitMs > MAX_SHARED_MS) this.#turns = new CellTurns(Math.ceil(max / 2), waitMs);
    if (this.#turns) this.on('release', (_error, client) => this.#turns?.endOf(client));
    this.beside = paths.distributed ? new PatientPool({ ...config, max: MAX_BESIDE_CONNECTIONS }) : undefined;
    this.beside?.on('error', (error, client) => this.emit('error', error, client));
    this.on('connect', (client) => {
      const connection: Connection = { paths, cell: 0, entered: new Set(), beside: this.beside };
      CONNECTIONS.set(client, connection);
      paths.pulse?.watch(client, connection);
    });
  }

  override renew(): void {
    super.renew();
    this.beside?.renew();
  }

  override end(): Promise<void>;
  override end(callback: () => void): void;
  override end(callback?: () => void): Promise<void> | undefined {
    const ended = Promise.all([super.end(), this.beside?.end()]).then(() => {});
    if (!callback) return ended;
    ended.then(callback);
    return undefined;
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
    if (cell !== 'all' && this.paths.pulse?.isSilent(cell))
      return void process.nextTick(callback, new Error(SILENCE), undefined, () => {});
    if (!this.#turns || typeof cell !== 'number') return void this.#connectNow(cell, callback);
    const turns = this.#turns;
    turns.take(cell, (late) => {
      if (late) return callback(late, undefined, () => {});
      this.#connectNow(cell, (error, client, release) => {
        if (client) turns.keep(client, cell);
        else turns.end(cell);
        callback(error, client, release);
      });
    });
  }

  #connectNow(cell: Cell, callback: Connected): void {
    if (this.#ownSessions) this.#putForward(cell);
    super.connect((error, client, release) => {
      const connection = client && CONNECTIONS.get(client);
      if (!connection || connection.cell === cell) return callback(error, client, release);
      if (!this.#ownSessions) {
        connection.cell = cell;
        return callback(error, client, release);
      }
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

/** The pool of all cells behind one that `poolOf` has made, and its cell. */
const WHOLE = new WeakMap<object, CellPool>();
const BOUND = new WeakMap<object, Cell>();

/** A pool whose connections belong to one cell, whoever asks for them: for background work. @returns the pool itself where there is one cell */
export function poolOf(pool: pg.Pool, cell: Cell): pg.Pool {
  if (!(pool instanceof CellPool)) return pool;
  const whole = WHOLE.get(pool) ?? pool;
  const bound = Object.create(whole) as pg.Pool;
  const connect = (callback?: Connected) => inCell(cell, () => (callback ? whole.connect(callback) : whole.connect()));
  const query = (...input: Parameters<pg.Pool['query']>) => inCell(cell, () => whole.query(...input));
  WHOLE.set(bound, whole);
  BOUND.set(bound, cell);
  return Object.assign(bound, { connect, query });
}

/** What leads a session of its own to a cell of a pool's database; empty where it has one. */
export function pathOf(pool: pg.Pool, cell: Cell): string {
  return pool instanceof CellPool ? pathStatement(pool.paths, cell) : '';
}

/** How the connections of a pool belong to cells; undefined where there is one. */
export function pathsOf(pool: pg.Pool): CellPaths | undefined {
  return pool instanceof CellPool ? pool.paths : undefined;
}

/** Whether a worker of Citus has the cell of a connection, or of a pool that belongs to a cell. */
export function isDistributed(db: object): boolean {
  const connection = db instanceof CellPool ? { paths: db.paths, cell: cellOfPool(db) } : CONNECTIONS.get(db);
  return connection?.paths.distributed === true && connection.cell !== 0 && connection.cell !== 'none';
}

function cellOfPool(pool: CellPool): Cell {
  return BOUND.get(pool) ?? currentCell();
}

/**
 * The schemas of all cells, quoted, where a connection is to read all of them and a worker of Citus has some.
 * @param asked the one of them that is read, where it is not all
 * @throws Error as for a statement without an answer, where such a cell is known to give none
 */
export function distributedCells(db: object, asked: Cell = 'all'): string[] | undefined {
  const { paths, cell } =
    db instanceof CellPool ? { paths: db.paths, cell: cellOfPool(db) } : (CONNECTIONS.get(db) ?? {});
  if (!paths || cell !== 'all') return undefined;
  paths.pulse?.refuseSilent(asked);
  if (!paths.distributed) return undefined;
  return paths.numbers.map((number) => pg.escapeIdentifier(schemaOf(paths.home, number)));
}

/** @throws Error as for a statement without an answer, where one of the cells of a pool is known to give none */
export function refuseWhileSilent(pool: object): void {
  if (pool instanceof CellPool) pool.paths.pulse?.refuseSilent('all');
}

/**
 * Reads in all cells; in the present one alone where another one does not answer, within a transaction, and where the database has one cell.
 */
export async function overAll<T>(db: object, work: () => Promise<T>): Promise<T> {
  if (!(db instanceof CellPool)) return work();
  try {
    return await inCell('all', work);
  } catch (error) {
    if (!databaseFault(error)) throw error;
    return work();
  }
}

/** The schema of a cell, quoted, for a statement that needs two of them. @param db of a database with several cells */
export function quotedSchema(db: object, cell: Cell): string {
  const paths = db instanceof CellPool ? db.paths : CONNECTIONS.get(db)?.paths;
  if (!paths) throw new TypeError('the database has one cell');
  return pg.escapeIdentifier(schemaOf(paths.home, cell));
}

/**
 * Where a statement commits by itself, before the transaction of a connection does. Undefined where the transaction can do it, because one
 * PostgreSQL has all cells. It finds the tables that exist once, and those of the first cell.
 */
export function besideOf(db: object): pg.Pool | undefined {
  return db instanceof CellPool ? db.beside : CONNECTIONS.get(db)?.beside;
}

/** Whether the database of a connection has several cells. */
export function hasSeveralCells(db: object): boolean {
  return db instanceof CellPool || CONNECTIONS.has(db);
}
