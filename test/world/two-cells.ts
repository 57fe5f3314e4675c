import assert from 'node:assert/strict';
import { migrate } from '../../src/database/migrate.ts';
import { createEmptyDatabase, log, type TestDatabase } from './database.ts';
import { createSubscriber } from './graphql.ts';
import { Receiver } from './receivers/receiver.ts';
import { startTestService, type TestService } from './service.ts';
import { until } from './until.ts';

export type Subscriber = Awaited<ReturnType<typeof createSubscriber>>;

/** A service with two cells, and in each of them a client whose webhooks arrive at one receiver. */
export interface TwoCells {
  database: TestDatabase;
  service: TestService;
  receiver: Receiver;
  /** In the first cell. */
  well: Subscriber;
  /** In the second one, to which a test does something. */
  ill: Subscriber;
  /** The end of the change feed, once all changes so far are in it. */
  feedEnd(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts it on a database of its own, which goes when the service stops. */
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
