import { hostname } from 'node:os';
import type { Context } from '../../context.ts';
import type { Wakeful } from '../../database/cells/activity.ts';
import { pathOf, pathsOf, poolOf } from '../../database/cells/pool.ts';
import { type Pool, urlOf, type Work } from '../../database/database.ts';
import { createPool } from '../../database/pools.ts';
import { Egress } from '../sending/egress.ts';
import type { Resolve } from '../sending/resolver.ts';
import { CellDeliveries } from './cell-deliveries.ts';
import { CONNECTION_SETTINGS } from './delivery.ts';
import { heldDeliveries, takenOverTotal } from './metrics.ts';
import { Flights } from './sender.ts';
import { Signer } from './signer.ts';
import { WorkerRegistration } from './worker.ts';

/** Connections for the engine's statements: intake, results, endpoints. If there are several cells, they share the second number. */
const MAX_CONNECTIONS = 4;
const MAX_CONNECTIONS_OF_CELLS = 16;
/** Milliseconds after which a statement without an answer is given up. A connection may be dead without a sign. */
const QUERY_TIMEOUT_MS = 15_000;
/**
 * Milliseconds after which a Citus coordinator ends a transaction that waits for its next statement. A fan-out takes several statements
 * there, and the engine sends each as soon as it has the previous answer. So an engine that is silent for longer counts as gone, and its
 * events go back to the outbox. An engine that was only slow does them again.
 */
const MAX_IDLE_IN_TRANSACTION_MS = 5_000;
/** Seconds for which a connection is kept. Each day has its own statements, which a connection would otherwise keep for ever. */
const MAX_CONNECTION_AGE_SECONDS = 6 * 3_600;
/** Milliseconds between two checks of what waits for a slot or a moment. */
const TICK_MS = 50;

export interface DispatcherOptions {
  /** Replaces how receivers' names become addresses; for tests. */
  resolve?: Resolve;
  /** Milliseconds after which a statement without an answer is given up; for tests. */
  queryTimeoutMs?: number;
  /** The most requests in flight at once; for tests. */
  maxInFlight?: number;
}

/**
 * The delivery engine of one process. It takes events in, sends notifications and writes the results (docs/webhooks.md, How it works): at
 * least once, never lost. Any number of engines may run against one database. It works in each cell separately. Identity, connections and
 * requests in flight belong to the process.
 */
export class Dispatcher implements Wakeful {
  readonly work = ['events', 'queue'] as const;
  readonly #pool: Pool;
  readonly #egress: Egress;
  readonly #registration: WorkerRegistration;
  /** By the numbers of the cells. */
  readonly #cells: ReadonlyMap<number, CellDeliveries>;
  #ticker: NodeJS.Timeout | undefined;
  #stopping = false;

  /** @param cells the context of each cell */
  constructor(context: Context, options: DispatcherOptions = {}, cells: readonly Context[] = [context]) {
    const { config, log, backgroundPool } = context;
    const url = urlOf(backgroundPool);
    const paths = pathsOf(backgroundPool);
    const patience = `set idle_in_transaction_session_timeout = ${MAX_IDLE_IN_TRANSACTION_MS}`;
    const pool = createPool(url, log, {
      max: cells.length > 1 ? MAX_CONNECTIONS_OF_CELLS : MAX_CONNECTIONS,
      background: true,
      answerWithin: options.queryTimeoutMs ?? QUERY_TIMEOUT_MS,
      longestLife: MAX_CONNECTION_AGE_SECONDS,
      name: 'lombard-webhooks',
      setUp: paths?.distributed ? `${CONNECTION_SETTINGS}; ${patience}` : CONNECTION_SETTINGS,
      cells: paths,
    });
    const egress = new Egress({ allow: config.webhookAllow, timeoutMs: config.webhookTimeout, ...options });
    const numbered = cells.map((cell) => [cell.rhythm?.cell ?? 0, cell] as const);
    const registration = new WorkerRegistration(context, {
      cells: numbered.map(([number]) => ({
        path: pathOf(backgroundPool, number),
        isSilent: () => paths?.pulse?.isSilent(number) ?? false,
      })),
      name: `${hostname()} ${process.pid}`,
      onSubscription: (id) => this.#each((cell) => cell.subscriptionChanged(id)),
      onRegistered: (kept) => this.#each((cell) => cell.registered(kept)),
      onTakenOver: (count) => {
        takenOverTotal.inc(count);
        this.wake();
      },
    });
    const shared = {
      registration,
      signer: new Signer(config.brand),
      egress,
      flights: new Flights(cells.length, options.maxInFlight),
      cells: cells.length,
    };
    this.#cells = new Map(
      numbered.map(([number, cell]) => [number, new CellDeliveries(cell, poolOf(pool, number), shared)]),
    );
    this.#pool = pool;
    this.#egress = egress;
    this.#registration = registration;
  }

  /** Starts the engine. If the database is away, it begins as soon as the database is back. */
  start(): void {
    this.#registration.start();
    this.#each((cell) => cell.start());
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Work was left: looks for it at once. @param cells where, if that is known */
  wake(cells: Iterable<number> = this.#cells.keys(), left: ReadonlySet<Work> = new Set(this.work)): void {
    for (const cell of cells) this.#cells.get(cell)?.wake(left);
  }

  /** Takes in nothing new, lets attempts in flight run for up to 8 s, and puts the rest back. */
  async stop(): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    clearInterval(this.#ticker);
    const all = (work: (cell: CellDeliveries) => Promise<void>) => Promise.all([...this.#cells.values()].map(work));
    await all((cell) => cell.takeNothing());
    await all((cell) => cell.finish());
    await this.#egress.close();
    await all((cell) => cell.stop());
    await this.#registration.stop();
    await this.#pool.end();
  }

  #each(work: (cell: CellDeliveries) => void): void {
    for (const cell of this.#cells.values()) work(cell);
  }

  #tick(): void {
    let held = 0;
    this.#each((cell) => {
      held += cell.tick();
    });
    heldDeliveries.set(held);
  }
}
