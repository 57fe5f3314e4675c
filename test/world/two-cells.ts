import assert from 'node:assert/strict';
import { migrate } from '../../src/database/migrate.ts';
import { createEmptyDatabase, log, type TestDatabase } from './database.ts';
import { createSubscriber } from './graphql.ts';
import { Receiver } from './receivers/receiver.ts';
import { startTestService, type TestService } from './service.ts';
import { until } from './until.ts';

export type Subscriber = Awaited<ReturnType<typeof createSubscriber>>;

/** A service with two cells, each with a client whose webhooks go to the same receiver. */
export interface TwoCells {
  database: TestDatabase;
  service: TestService;
  receiver: Receiver;
  /** The client in the first cell. */
  well: Subscriber;
  /** The client in the second cell, which a test disturbs. */
  ill: Subscriber;
  /** The end of the change feed, once it includes all changes so far. */
  feedEnd(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts the service on its own database, which is dropped when the service stops. */
export async function startTwoCells(): Promise<TwoCells> {
  const database = await createEmptyDatabase();
  await migrate(database.url, log, { cells: 2, trialCells: true });
  const receiver = await Receiver.start();
  const service = await startTestService({ LOMBARD_WEBHOOK_ALLOW: '127.0.0.0/8' }, database);
  const well = await createSubscriber(service, 'Well');
  const ill = await createSubscriber(service, 'Ill');
  const { rows } = await service.query('select client_id, cell from clients order by cell');
  assert.deepEqual(rows, [
    { client_id: well.clientId, cell: 1 },
    { client_id: ill.clientId, cell: 2 },
  ]);
  for (const world of [well, ill])
    await world.subscribe({ url: receiver.url(), types: ['PAYMENT_STATUS_CHANGE'], active: true });
  const feedEnd = async () => {
    await until(async () => (await service.query('select from public_cells.changes_unpublished')).rowCount === 0);
    return (await service.operator('GET', '/changes?after=now')).body.cursor;
  };
  const stop = async () => {
    await service.stop();
    await receiver.stop();
  };
  return { database, service, receiver, well, ill, feedEnd, stop };
}
