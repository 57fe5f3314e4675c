import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import pg from 'pg';
import { migrate } from '../../src/database/migrate.ts';
import { readMigrations } from '../../src/database/schema.ts';
import { createEmptyDatabase, log } from '../world/database.ts';
import { startTestService } from '../world/service.ts';

/** The last schema whose chain had no key. */
const BEFORE_KEY = 13;
const ROWS = 1_200;

/** As the sealer of that schema made it. */
const UNKEYED = `concat_ws(E'\\x1f', id, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), actor, request_id, action, entity,
  entity_id, coalesce(client_id, ''), coalesce(before::text, ''), coalesce(after::text, ''))`;

test('rows from before the chain had a key keep verifying, and the key protects them from then on', async () => {
  const database = await createEmptyDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  pool.on('error', () => {});
  try {
    const migrations = await readMigrations();
    await migrate(database.url, log, { migrations: migrations.filter(({ number }) => number <= BEFORE_KEY) });
    await pool.query(
      `insert into audit (at, actor, request_id, action, entity, entity_id, client_id, after)
       select timestamptz '2025-01-01Z' + i * interval '1 hour', 'operator:x', 'r' || i, 'create', 'client', 'C' || i, 'C' || i,
         json_build_object('client_name', 'n' || i) from generate_series(1, $1::int) i`,
      [ROWS],
    );
    const { rows } = await pool.query(`select id, ${UNKEYED} as content from audit order by id`);
    let hash: Buffer = Buffer.alloc(32);
    for (const [index, row] of rows.slice(0, -10).entries()) {
      hash = createHash('sha256').update(hash).update(row.content, 'utf8').digest();
      await pool.query('insert into audit_chain values ($1, $2, $3)', [index + 1, row.id, hash]);
      await pool.query('delete from audit_unsealed where id = $1', [row.id]);
    }
    await migrate(database.url, log);

    const service = await startTestService({}, { url: database.url, drop: async () => {} });
    try {
      const verify = async (query = '') => (await service.operator('GET', `/audit/verify${query}`)).body;
      await service.operator('POST', '/clients', { client_name: 'New' });
      const proof = await verify();
      assert.equal(proof.fault, null);
      assert.equal(proof.keyed_from, ROWS - 10 + 1);
      assert.ok(proof.rows > ROWS);
      assert.deepEqual(
        (await service.operator('GET', '/audit?entity_id=C700')).body.map((row: { position: number }) => row.position),
        [700],
      );
      assert.equal((await verify('?from=2025-01-10T00:00:00Z&to=2025-01-11T00:00:00Z')).rows, 24);

      // Made again from one row on, as anybody could before there was a key.
      await service.query('alter table audit disable trigger all');
      await service.query(`update audit set after = '{}' where id = $1`, [rows[699].id]);
      assert.deepEqual([(await verify()).fault.what, (await verify()).fault.position], ['row_changed', 700]);
      const { rows: links } = await service.query(
        `select c.position, c.hash, content from audit_chain c join (select id, ${UNKEYED} as content from audit) a on a.id = c.audit_id
         where c.position between 699 and $1 order by c.position`,
        [ROWS - 10],
      );
      let again: Buffer = links[0].hash;
      for (const link of links.slice(1)) {
        again = createHash('sha256').update(again).update(link.content, 'utf8').digest();
        await service.query('update audit_chain set hash = $1 where position = $2', [again, link.position]);
      }
      const forged = await verify();
      assert.deepEqual([forged.fault.what, forged.fault.position], ['link_changed', ROWS - 10]);
    } finally {
      await service.stop();
    }
  } finally {
    await pool.end();
    await database.drop();
  }
});
