/** Disk space of a payment with five steps, by purpose. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '../../src/database/migrate.ts';
import { startEmbedded } from '../../src/embedded/postgres.ts';
import { serverClock, startFedService } from '../feed/service.ts';
import { log } from '../payments-data.ts';
import { lanes, post } from './calls.ts';
import { BenchCells } from './cells.ts';
import { Meter } from './meter.ts';
import { importClients, importParties, partyOf, paymentOf } from './people.ts';
import { MASTER_KEY, startReceiver } from './receiver.ts';

const CLIENTS = 20;
const PAYMENTS = Number(process.env.LOMBARD_BENCH_CALLS ?? 500);
/** The steps after the creation; the client's approver must agree to the creation. */
const STEPS = ['authorise', 'validate', 'send', 'complete'];

/** Tables by purpose; the first matching group counts. */
const GROUPS: [name: string, condition: string][] = [
  ['audit', "relname ~ '^audit'"],
  ['change feed', "relname ~ '^change'"],
  ['events, notifications, attempts', "relname ~ '^(webhook|subscriptions|notifications|attempts)'"],
  ['payments, approvals, totals', 'true'],
];

/** @returns lines of a table: the group, and its bytes per payment */
export async function measureDisk(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lombard-bench-disk-'));
  const database = await startEmbedded({ dataDir: join(folder, 'data'), log });
  const db = new pg.Client({ connectionString: database.url });
  try {
    await migrate(database.url, log);
    await db.connect();
    const service = await startFedService(database.url, join(folder, 'service'), {
      LOMBARD_MASTER_KEY: MASTER_KEY.toString('base64'),
      LOMBARD_ROLES: 'operator,worker',
    });
    try {
      const parties = Array.from({ length: CLIENTS }, (_, n) => partyOf(`C${n}`));
      await importClients(service, parties);
      await importParties(service, parties);
      const stop = await startReceiver(await BenchCells.read(database.url), parties);
      const meter = await Meter.create(db, [service.pid], await serverClock(db));
      const before = await sizes(db);
      await lanes(PAYMENTS, async (n) => {
        const party = parties[n % CLIENTS] as (typeof parties)[number];
        await post(`${service.operator}/payments`, paymentOf(party, { payment_id: `D${n}` }));
        for (const action of STEPS)
          await post(`${service.operator}/payments/D${n}/actions`, {
            action,
            ...(action === 'authorise' ? { contact_id: party.approver } : {}),
          });
      });
      await meter.settle();
      const after = await sizes(db);
      await stop();
      return GROUPS.map(([name], index) => {
        const bytes = ((after[index] as number) - (before[index] as number)) / PAYMENTS;
        return `| ${name} | ${Math.round(bytes / 100) * 100} |`;
      });
    } finally {
      await service.stop();
    }
  } finally {
    await db.end();
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Bytes of each group, including indexes. */
async function sizes(db: pg.Client): Promise<number[]> {
  const group = `case ${GROUPS.map(([, condition], index) => `when ${condition} then ${index}`).join(' ')} end`;
  const { rows } = await db.query<{ bytes: string; place: number }>(
    `select ${group} as place, sum(pg_total_relation_size(c.oid)) as bytes from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where relkind = 'r' and nspname = 'public' group by 1`,
  );
  return GROUPS.map((_, index) => Number(rows.find(({ place }) => place === index)?.bytes ?? 0));
}
