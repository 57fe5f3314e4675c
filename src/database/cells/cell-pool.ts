import type pg from 'pg';
import { SILENCE } from '../fault.ts';
import { PatientPool } from '../patient-pool.ts';
import { type CellPaths, CONNECTIONS, type Connection, pathStatement } from './connection.ts';
import { hasCells } from './pool.ts';
import { type Cell, currentCell } from './scope.ts';
import { CellTurns, EVERY_SERVER } from './turns.ts';

/** The largest part of a pool's connections that callers of one server may hold. If that server goes silent, the rest is free for the others. */
const MAX_PART_OF_SERVER = 3 / 4;
/** The fewest connections that callers of one server may hold. A caller may need a second one. */
const MIN_OF_SERVER = 2;

/** Connections of a pool for statements that commit by themselves beside a transaction. Each is used for some milliseconds. */
const MAX_BESIDE_CONNECTIONS = 2;

type Connected = Parameters<pg.Pool['connect']>[0];

/** What pg.Pool keeps for each idle connection. It gives out the last one next. */
interface Idle {
  _idle: { client: pg.PoolClient }[];
}

/**
 * The pool of a database with several cells. A connection belongs to the cell that its `search_path` names. A caller gets a connection of
 * its own cell (scope.ts): the one that last served that cell, or else the one that has been idle longest. The latter changes its path, and
 * PostgreSQL then plans each of its prepared statements again.
 */
export class CellPool extends PatientPool {
  readonly paths: CellPaths;
  /** Connections to the first cell for what commits by itself beside a transaction. Undefined if one PostgreSQL has all cells. */
  readonly beside: PatientPool | undefined;

  readonly #ownSessions: boolean;
  readonly #turns: CellTurns;

  /** @param options `ownSessions`: false behind a pooler in transaction mode, where each transaction sets its path (pooled-client.ts) */
  constructor(config: pg.PoolConfig, paths: CellPaths, { ownSessions }: { ownSessions: boolean }) {
    super(config);
    this.paths = paths;
    this.#ownSessions = ownSessions;
    const { max = 0, connectionTimeoutMillis: waitMs = 0 } = config;
    this.#turns = new CellTurns(Math.max(MIN_OF_SERVER, Math.floor(max * MAX_PART_OF_SERVER)), waitMs);
    this.on('release', (_error, client) => this.#turns.endOf(client));
    this.beside = paths.distributed ? new PatientPool({ ...config, max: MAX_BESIDE_CONNECTIONS }) : undefined;
    this.beside?.on('error', (error, client) => this.emit('error', error, client));
    hasCells(this, { paths, beside: this.beside });
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
    const server = serverOf(this.paths, cell);
    if (server === undefined) return void this.#connectNow(cell, callback);
    const refuse = () => process.nextTick(callback, new Error(SILENCE), undefined, () => {});
    const isSilent = () => cell !== 'all' && this.paths.pulse?.isSilent(cell);
    if (isSilent()) return void refuse();
    this.#turns.take(server, (late) => {
      if (late) return callback(late, undefined, () => {});
      const end = () => this.#turns.end(server);
      if (isSilent()) {
        end();
        return void refuse();
      }
      this.#connectNow(cell, (error, client, release) => {
        if (client) this.#turns.keep(client, server);
        else end();
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

  /** Moves the idle connection that suits a cell to where the pool takes the next one from. */
  #putForward(cell: Cell): void {
    const idle = (this as unknown as Idle)._idle;
    const served = idle.findLastIndex(({ client }) => CONNECTIONS.get(client)?.cell === cell);
    // A pool opens another connection only if none is idle. So without one of the cell, the one that has been idle longest is taken.
    const [chosen] = idle.splice(Math.max(served, 0), 1);
    if (chosen) idle.push(chosen);
  }
}

/** The server, besides the coordinator, that statements of a cell may wait for. If one PostgreSQL has all cells, each cell counts as a server. */
function serverOf({ servers }: CellPaths, cell: Cell): string | undefined {
  if (cell === 'all') return EVERY_SERVER;
  return cell === 0 || cell === 'none' ? undefined : (servers.get(cell) ?? String(cell));
}
