/**
 * Writes the database from which later migrations are tested: `npm run upgrade-dump` (docs/upgrading.md, At a release). It has the schema
 * of this checkout, and what this program made in it: the demonstration, and 100,000 payments of four clients that came in by an import.
 * The payments follow from their numbers; keys and moments are those of the run.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import { transaction } from '../../src/database/database.ts';
import { migrate } from '../../src/database/migrate.ts';
import { clearChanges } from '../../src/feed/retention.ts';
import { ensureDemonstration } from '../../src/sandbox/demonstration/demonstration.ts';
import { createSubscription } from '../../src/webhooks/subscription.ts';
import { createWorld } from '../world/client.ts';
import { REPOSITORY } from '../world/command.ts';
import { log } from '../world/database.ts';
import { NO_DEFAULT_POSTGRESQL, runProgram, startDefaultServer } from '../world/default-postgresql.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';
import { checkReleased, DUMPS, MASTER_KEY, PAYMENTS } from '../world/upgrade-dump.ts';

const CLIENTS = 4;
const DAY_MS = 86_400_000;
const FIRST_MS = Date.parse('2025-01-02T09:00:00Z');
/** So that the last payment was made before the dump is. */
const INTERVAL_MS = 400_000;
const STATUSES = ['Payment complete', 'Payment complete', 'Executing Payment', 'Payment cancelled', 'Payment rejected'];
const LEVEL = 15;
const WINDOW_LOG = 24;

type World = Awaited<ReturnType<typeof createWorld>>;

const server = await startDefaultServer();
if (!server) throw new Error(NO_DEFAULT_POSTGRESQL);
const folder = mkdtempSync(join(tmpdir(), 'lombard-upgrade-dump-'));
try {
  const faults = await checkReleased();
  if (faults.length > 0) throw new Error(faults.join('\n'));
  await migrate(server.url, log);
  const service = await startTestService(
    { DATABASE_URL: server.url, LOMBARD_MASTER_KEY: MASTER_KEY },
    { url: server.url, drop: async () => {} },
  );
  await fill(service);
  await service.stop();
  const file = join(folder, 'dump.sql');
  // pg_dump runs as the user of the server. Not every server that reads the dump has lz4.
  chmodSync(folder, 0o777);
  await runProgram('pg_dump', ['--no-owner', '--no-toast-compression', `--file=${file}`, server.url]);
  const { version } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as { version: string };
  const params = { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_windowLog]: WINDOW_LOG };
  const packed = zstdCompressSync(readFileSync(file), { params });
  writeFileSync(new URL(`${version}.sql.zst`, DUMPS), packed);
  process.stdout.write(`test/upgrades/dumps/${version}.sql.zst: ${PAYMENTS} payments, ${packed.length >> 10} KiB\n`);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function fill(service: TestService): Promise<void> {
  await ensureDemonstration(service.service.context);
  const worlds: World[] = [];
  for (let n = 0; n < CLIENTS; n += 1)
    worlds.push(await createWorld(service, `Client ${n}`, { payment_approvals_enabled: n % 2 === 1 }));
  await subscribe(service, worlds[0] as World);
  const lines = Array.from({ length: PAYMENTS }, (_, n) => {
    const { base } = worlds[n % CLIENTS] as World;
    const created = new Date(FIRST_MS + n * INTERVAL_MS);
    const uuid = `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
    const days = { created_date: created.toISOString(), payment_date: dayOf(created.getTime() + 2 * DAY_MS) };
    return JSON.stringify({
      ...base,
      ...days,
      payment_id: `UPG${n}`,
      uuid,
      amount: 1 + (n % 9_000),
      reference: `Invoice ${n}`,
      status: STATUSES[n % STATUSES.length],
    });
  });
  const headers = { 'content-type': 'application/x-ndjson' };
  const imported = await service.operator('POST', '/imports/payments', undefined, { raw: lines.join('\n'), headers });
  if (imported.body.accepted !== PAYMENTS) throw new Error(imported.text);
  await until(async () => {
    const { rows } = await service.query(
      `select (select count(*) from audit_unsealed) + (select count(*) from changes_unpublished) + (select count(*) from webhook_outbox) as left`,
    );
    return Number(rows[0].left) === 0;
  });
  // As after a month: the feed has one text for each payment otherwise, ten times what the rest is.
  const { clock, backgroundPool } = service.service.context;
  await clearChanges(backgroundPool, new Date(clock.now().getTime() + 31 * DAY_MS), 30);
}

/** A subscription whose endpoint cannot be reached: its notifications wait. */
async function subscribe(service: TestService, { clientId, contactId, pay }: World): Promise<void> {
  const { backgroundPool, vault, clock } = service.service.context;
  const act = { now: clock.now(), actor: 'upgrade-dump', requestId: 'upgrade-dump' };
  const settings = { sandbox: true, brand: 'Service', vault, streamUrl: 'http://service.example/webhooks/stream' };
  const subscription = {
    ...{ clientId, contactId, url: 'http://127.0.0.1:9/', active: true, secret: 'secret' },
    types: ['PAYMENT_STATUS_CHANGE' as const],
  };
  await transaction(backgroundPool, (tx) => createSubscription(tx, act, subscription, settings));
  await pay();
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
