import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { migrate } from '../../src/database/migrate.ts';
import { type Migration, readMigrations } from '../../src/database/schema.ts';
import { catalogueOf } from '../world/catalogue.ts';
import { createDatabaseOfOneCell, createEmptyDatabase, log, type TestDatabase } from '../world/database.ts';
import { startLoad } from '../world/load.ts';
import { startTestService, type TestService } from '../world/service.ts';
import {
  checkReleased,
  dumpNames,
  editedSince,
  loadDump,
  MASTER_KEY,
  migrationsRefusingReleased,
  PAYMENTS,
  readDump,
  releasedFaults,
} from '../world/upgrade-dump.ts';

/** Every release's database, with data, becomes one of this checkout (docs/upgrading.md, At a release). */

test('no migration that a release has was edited since', async () => {
  assert.deepEqual(await checkReleased(), []);
  const list = '# a comment\naa  0001_a.sql\nbb  0003_b.sql\n';
  const faultsOf = (files: [string, string][]) => releasedFaults(list, new Map(files));
  const released: [string, string][] = [
    ['0001_a.sql', 'aa'],
    ['0003_b.sql', 'bb'],
  ];
  assert.deepEqual(faultsOf([...released, ['0004_c.sql', 'cc']]), []);
  assert.match(faultsOf([['0001_a.sql', 'aa']]).join(), /^0003_b.sql was released, and is gone$/);
  assert.match(
    faultsOf([['0001_a.sql', 'xx'], ...released.slice(1)]).join(),
    /^0001_a.sql was edited after its release/,
  );
  assert.match(faultsOf([...released, ['0002_c.sql', 'cc']]).join(), /^0002_c.sql has a number before 0003_b.sql/);
});

test('the program of the last release works on the schema of this one', async () => {
  assert.deepEqual(await migrationsRefusingReleased(), []);
});

const database = (url: string) => ({ url, drop: async () => {} });

for (const name of dumpNames()) {
  const dump = readDump(name);
  // A released file cannot be among them: the test before says so.
  const edited = await editedSince(dump);
  const skip =
    edited.length > 0 &&
    `${name} has ${edited.join(', ')} as it was before it was edited; no release has it. Renew: npm run upgrade-dump`;

  describe(`a database of ${name}`, { skip }, () => {
    let upgraded: TestDatabase;
    let service: TestService | undefined;
    after(async () => {
      await service?.stop();
      await upgraded?.drop();
    });

    test('has the schema of a new one after the migrations', async () => {
      upgraded = await createEmptyDatabase();
      await loadDump(upgraded.url, dump);
      await migrate(upgraded.url, log);
      const fresh = await createDatabaseOfOneCell();
      const [then, now] = [await catalogueOf(upgraded.url), await catalogueOf(fresh.url)];
      await fresh.drop();
      assert.ok(now.length > 1_000, `${now.length} objects`);
      assert.deepEqual(difference(then, now), []);
      assert.deepEqual(difference(now, then), []);
    });

    test('serves what it had', async () => {
      service = await startTestService({ LOMBARD_MASTER_KEY: MASTER_KEY }, database(upgraded.url));
      const { rows } = await service.query(
        'select client_id, count(*)::int as count from payments group by 1 order by 1',
      );
      assert.ok(rows.reduce((sum, { count }) => sum + count, 0) >= PAYMENTS);
      for (const { client_id, count } of rows) {
        const page = await service.operator('GET', `/payments?client_id=${client_id}&page_size=1`);
        assert.equal(page.headers.get('x-total-count'), String(count), page.text);
      }
      const proof = await service.operator('GET', '/audit/verify');
      assert.deepEqual([proof.body.valid, proof.body.fault], [true, null]);
      const made = await service.operator('POST', '/clients', { client_name: 'After the upgrade' });
      const { cursor } = (await service.operator('GET', '/changes?limit=1000')).body;
      assert.ok(cursor, made.text);
    });

    test('is migrated further under load, beside a second program: no request is refused', async (t) => {
      const former = service as TestService;
      const load = await startLoad(former, { callers: 6 });
      try {
        await load.progress();
        await migrate(upgraded.url, log, { migrations: [...(await readMigrations()), rehearsal()] });
        await load.progress();
        // The next program starts, the load balancer turns to it, and the former one ends.
        const next = await startTestService({ LOMBARD_MASTER_KEY: MASTER_KEY }, database(upgraded.url));
        load.turnTo(next);
        await load.progress();
        service = next;
        await former.stop();
        await load.progress();
      } finally {
        await load.stop();
      }
      t.diagnostic(`${load.answered} requests`);
      assert.deepEqual(load.refused, []);
      const { rows } = await (service as TestService).query(
        'select count(*)::int as n from payments where rehearsal is not null',
      );
      assert.ok(rows[0].n > 10_000, `${rows[0].n} payments were filled`);
    });
  });
}

/** The migration of the rehearsal behind all others. */
function rehearsal(): Migration {
  const sql = readFileSync(new URL('rehearsal.sql', import.meta.url), 'utf8');
  return { number: 9_001, name: '9001_rehearsal.sql', sql, sha256: randomUUID(), oldestProgram: 1 };
}

function difference(one: string[], other: string[]): string[] {
  const known = new Set(other);
  return one.filter((text) => !known.has(text));
}
