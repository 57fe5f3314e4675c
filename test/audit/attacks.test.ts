import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { makeHead } from '../../src/audit/heads.ts';
import { ONE_CELL } from '../world/cells.ts';
import { startTestService, type TestService } from '../world/service.ts';

/** Somebody who may write everything in the database, and does not have the master key, alters the audit trail. */

let service: TestService;

/** Without a worker: nothing seals or stores heads but what the test asks for. */
beforeEach(async () => {
  service = await startTestService({ LOMBARD_ROLES: 'api,auth,operator' });
  for (const name of ['A', 'B', 'C', 'D', 'E']) await service.operator('POST', '/clients', { client_name: name });
  assert.deepEqual(pick(await verify()), { valid: true, fault: undefined });
  await service.query('alter table audit disable trigger all');
});
afterEach(() => service.stop());

interface Proof {
  valid: boolean;
  rows: number;
  first_invalid: number | null;
  fault: { what: string; position: number | null; id: number | null; message: string } | null;
  keyed_from: number | null;
  head: { position: number; hash: string };
}

async function verify(query = ''): Promise<Proof> {
  const { status, body, text } = await service.operator('GET', `/audit/verify${query}`);
  assert.equal(status, 200, text);
  return body;
}

function pick({ valid, fault }: Proof) {
  return { valid, fault: fault?.what };
}

/** Advances the clock by a minute and a bit, and lets a worker store a head. */
async function storeHead(): Promise<{ position: number; hash: string; at: string }> {
  await service.query('alter table audit enable trigger all');
  await service.operator('PUT', '/clock', { advance_seconds: 61 });
  await verify();
  await makeHead(service.service.context);
  await service.query('alter table audit disable trigger all');
  return (await service.operator('GET', '/audit/heads')).body[0];
}

/** Removes what is behind position 4, and with several cells where the chain ends. */
async function cutOff(): Promise<void> {
  await service.query('delete from audit where id in (select audit_id from audit_chain where position > 4)');
  await service.query('delete from audit_chain where position > 4');
  await service.query(
    'update audit_end e set position = c.position, hash = c.hash, latest_at = c.latest_at from audit_chain c where c.position = 4',
  );
}

async function rowAt(position: number): Promise<number> {
  const { rows } = await service.query('select audit_id from audit_chain where position = $1', [position]);
  return Number(rows[0].audit_id);
}

/** Verification says what, and where. */
async function finds(what: string, where: { position: number | null; id?: number | null }): Promise<void> {
  const { valid, fault, first_invalid } = await verify();
  assert.equal(valid, false);
  assert.equal(fault?.what, what, fault?.message);
  assert.equal(fault?.position, where.position);
  if (where.id !== undefined) assert.deepEqual([fault?.id, first_invalid], [where.id, where.id]);
  assert.ok((fault?.message.length ?? 0) > 20);
}

describe('rows', () => {
  test('changed', async () => {
    const id = await rowAt(3);
    await service.query(`update audit set after = '{"client_name":"Z"}' where id = $1`, [id]);
    await finds('row_changed', { position: 3, id });
  });

  test('changed in a field that lists filter by, in row and chain', async () => {
    const id = await rowAt(3);
    await service.query("update audit set actor = 'operator:nobody' where id = $1", [id]);
    await service.query("update audit_chain set actor = 'operator:nobody' where audit_id = $1", [id]);
    await finds('row_changed', { position: 3, id });
  });

  test('hidden from lists by the copies in the chain', async () => {
    const id = await rowAt(3);
    await service.query("update audit_chain set entity_id = 'x' where audit_id = $1", [id]);
    await finds('link_changed', { position: 3, id });
    await service.query('update audit_chain c set entity_id = a.entity_id from audit a where a.id = c.audit_id');
    await service.query("update audit_chain set latest_at = 'infinity' where audit_id = $1", [id]);
    await finds('link_changed', { position: 3, id });
  });

  test('deleted', async () => {
    const id = await rowAt(3);
    await service.query('delete from audit where id = $1', [id]);
    await finds('row_missing', { position: 3, id });
    await service.query('delete from audit_chain where position = 3');
    await finds('row_missing', { position: 3, id: null });
  });

  test('deleted, and the later links moved up', async () => {
    await service.query('delete from audit where id = $1', [await rowAt(3)]);
    await service.query('delete from audit_chain where position = 3');
    await service.query('update audit_chain set position = -position where position > 3');
    await service.query('update audit_chain set position = -position - 1 where position < 0');
    await finds('link_changed', { position: 3, id: await rowAt(3) });
  });

  test('inserted', async () => {
    await service.query(
      `insert into audit (at, actor, request_id, action, entity, entity_id) select at, actor, 'r', action, entity, 'X' from audit where id = $1`,
      [await rowAt(3)],
    );
    const { rows } = await service.query("select id from audit where entity_id = 'X'");
    await finds('row_added', { position: null, id: Number(rows[0].id) });
  });

  test('inserted into the chain as well, with a hash of its own', { skip: ONE_CELL }, async () => {
    const end = (await verify()).head.position;
    await service.query(
      `with made as (insert into audit (at, actor, request_id, action, entity, entity_id)
         select at, actor, 'r', action, entity, 'X' from audit where id = $1 returning *)
       insert into audit_chain select $2, id, at, (select max(latest_at) from audit_chain), false, entity, entity_id, client_id, actor,
         sha256(id::text::bytea) from made`,
      [await rowAt(3), end + 1],
    );
    await service.query('alter table audit enable trigger all');
    await service.operator('POST', '/clients', { client_name: 'F' });
    await finds('row_changed', { position: end + 1, id: await rowAt(end + 1) });
  });

  test('swapped', { skip: ONE_CELL }, async () => {
    const [third, fourth] = [await rowAt(3), await rowAt(4)];
    await service.query(
      `update audit a set before = b.before, after = b.after, entity_id = b.entity_id, client_id = b.client_id
       from audit b where a.id in ($1, $2) and b.id in ($1, $2) and a.id <> b.id`,
      [third, fourth],
    );
    await finds('link_changed', { position: 3, id: third });
  });

  test('swapped in the chain', async () => {
    await service.query(
      'update audit_chain set position = case position when 3 then -4 else -3 end where position in (3, 4)',
    );
    await service.query('update audit_chain set position = -position where position < 0');
    await finds('link_changed', { position: 3, id: await rowAt(3) });
  });
});

describe('the end', () => {
  test('cut off behind a stored head', async () => {
    const head = await storeHead();
    await cutOff();
    await finds('rows_cut', { position: 5 });
    // What is sealed afterwards grows over the gap, and is not what the head says.
    await service.query('alter table audit enable trigger all');
    for (let made = 4; made < head.position + 1; made += 1)
      await service.operator('POST', '/clients', { client_name: 'again' });
    await finds('head_differs', { position: head.position });
  });

  test('cut off with its stored heads: only a kept head tells', async () => {
    const head = await storeHead();
    const kept = `?head=${head.position}:${head.hash}`;
    assert.equal((await verify(kept)).fault, null);
    await cutOff();
    await service.query('delete from audit_heads');
    assert.equal((await verify()).fault, null);
    const told = await verify(kept);
    assert.deepEqual([told.valid, told.fault?.what, told.fault?.position], [false, 'rows_cut', 5]);
    await service.query('alter table audit enable trigger all');
    for (let made = 4; made < head.position + 1; made += 1)
      await service.operator('POST', '/clients', { client_name: 'again' });
    assert.equal((await verify()).fault, null);
    assert.equal((await verify(kept)).fault?.what, 'head_differs');
  });

  test('cut off, with a head of the attacker for the new end', async () => {
    await storeHead();
    await cutOff();
    await service.query(
      `update audit_heads h set position = 4, hash = (select hash from audit_chain where position = 4)`,
    );
    await finds('head_forged', { position: 4 });
  });

  test('a floor of the attacker hides nothing', async () => {
    const head = await storeHead();
    await service.query('update audit_heads set floor = true');
    await service.query('delete from audit where id in (select audit_id from audit_chain where position <= $1)', [
      head.position,
    ]);
    await service.query('delete from audit_chain where position <= $1', [head.position]);
    await finds('head_forged', { position: head.position });
  });
});

describe('the key', () => {
  test('replaced by one of the attacker', async () => {
    await service.query('update audit_key set sealed = $1', [Buffer.alloc(120, 7)]);
    await finds('key_replaced', { position: null });
  });

  test('replaced by a good one of another database under the same master key', async () => {
    const { vault } = service.service.context;
    const other = JSON.stringify({ key: Buffer.alloc(32, 9).toString('base64'), unkeyed: 0, anchor: '00'.repeat(32) });
    await service.query('update audit_key set sealed = $1', [vault.seal(other, 'audit_chain')]);
    await finds('link_changed', { position: 1 });
  });

  test('removed, so that the service makes another one: it does not', async () => {
    const end = (await verify()).head.position;
    await service.query('alter table audit enable trigger all');
    for (const removed of ['update audit_key set sealed = null', 'delete from audit_key']) {
      await service.query(removed);
      await service.operator('POST', '/clients', { client_name: 'unsealed' });
      await finds('key_missing', { position: null });
    }
    const { rows } = await service.query('select max(position)::int as end from audit_chain');
    assert.equal(rows[0].end, end);
    // The lists go on with what was sealed.
    assert.equal((await service.operator('GET', '/audit?limit=1000')).body.length, end);
  });
});
