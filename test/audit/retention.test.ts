import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { lombard } from '../world/command.ts';
import { startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** Heads each minute, and LOMBARD_AUDIT_RETENTION_DAYS: whole days go, behind a head that stays. */

let service: TestService;
const DAY_SECONDS = 86_400;

before(async () => {
  service = await startTestService({ LOMBARD_AUDIT_RETENTION_DAYS: '2' });
});
after(() => service.stop());

const verify = async (query = '') => (await service.operator('GET', `/audit/verify${query}`)).body;
const heads = async () => (await service.operator('GET', '/audit/heads')).body;
const advance = (seconds: number) => service.operator('PUT', '/clock', { advance_seconds: seconds });

describe('heads', () => {
  test('one for each minute', async () => {
    await until(async () => (await heads()).length > 0);
    const first = (await heads()).at(-1);
    assert.deepEqual(Object.keys(first), ['position', 'hash', 'at']);
    await advance(61);
    await until(async () => (await heads())[0].position > first.position);
    const [newest] = await heads();
    assert.equal((await verify(`?head=${first.position}:${first.hash}`)).valid, true);
    assert.equal((await verify(`?head=${first.position}:${newest.hash}`)).fault.what, 'head_differs');
    const list = await service.operator('GET', `/audit/heads?to=${newest.at}`);
    assert.deepEqual(list.body.at(-1), first);
    assert.ok(list.body.every(({ at }: { at: string }) => at < newest.at));
    for (const wrong of ['5', '0:00', 'x:y', `5:${'0'.repeat(63)}`])
      assert.equal((await service.operator('GET', `/audit/verify?head=${wrong}`)).status, 400, wrong);
  });

  test('a minute in which nothing was sealed has its head as well', async () => {
    const [before] = await heads();
    // PUT /clock would leave a row of its own; another process's clock is moved like this.
    const move = 'update service_clock set offset_ms = offset_ms + 61000';
    for (let minutes = 1; minutes <= 2; minutes += 1) {
      const count = (await heads()).length;
      await service.query(move);
      await until(async () => (await heads()).length > count);
    }
    const [newest, second] = await heads();
    assert.deepEqual([newest.position, newest.hash], [second.position, second.hash]);
    assert.ok(newest.at > second.at && second.at > before.at, 'the newest is the first of the list');
    const proof = await verify(`?head=${newest.position}:${newest.hash}`);
    assert.deepEqual([proof.fault, proof.head.position], [null, newest.position]);
  });
});

describe('retention', () => {
  test('drops what is older, and what is kept still verifies', async () => {
    const kept = (await heads())[0];
    const before = await verify();
    assert.equal(before.kept_from, 1);
    await service.operator('POST', '/clients', { client_id: 'OLD', client_name: 'Of the first day' });
    await advance(2 * DAY_SECONDS);
    await service.operator('POST', '/clients', { client_id: 'YOUNGER', client_name: 'Two days later' });
    await advance(DAY_SECONDS);
    await until(async () => (await verify()).kept_from > 1);
    await until(async () => (await service.operator('GET', '/audit?entity_id=OLD')).body.length === 0);
    const proof = await verify();
    assert.equal(proof.fault, null);
    assert.ok(proof.rows < before.rows + 10);
    assert.equal((await service.operator('GET', '/audit?entity_id=YOUNGER')).body.length, 1);
    // The removal has a row of its own, written by the function that removed.
    const removal = (await service.operator('GET', '/audit?actor=service:retention&entity=audit')).body;
    assert.ok(removal.length > 0);
    assert.ok(
      removal.every(
        (row: { action: string; after: { rows: number } }) => row.action === 'delete' && row.after.rows > 0,
      ),
    );
    // The head behind which all is gone stays, and proves itself; one from before cannot be compared.
    const [floor] = (await heads()).slice(-1);
    assert.equal(floor.position, proof.kept_from - 1);
    assert.equal((await verify(`?head=${floor.position}:${floor.hash}`)).valid, true);
    const gone = await service.operator('GET', `/audit/verify?head=${kept.position}:${kept.hash}`);
    assert.equal(gone.status, 400, gone.text);
    assert.match(gone.body.details, /^query\.head: must be a position from \d+ on/);
  });

  test('goes on day by day, also where the clock went back and rows are out of order', async () => {
    await service.operator('DELETE', '/clock');
    await service.operator('POST', '/clients', { client_id: 'BACK', client_name: 'Of the first day again' });
    assert.equal((await verify()).fault, null);
    const [row] = (await service.operator('GET', '/audit?entity_id=BACK')).body;
    const at = Date.parse(row.at);
    const window = `from=${new Date(at).toISOString()}&to=${new Date(at + 1).toISOString()}`;
    assert.equal((await service.operator('GET', `/audit?entity_id=BACK&${window}`)).body.length, 1);
    await advance(20 * DAY_SECONDS);
    await until(async () => (await service.operator('GET', '/audit?entity_id=BACK')).body.length === 0);
    await until(async () => (await verify()).fault === null);
  });

  test('lombard audit verify goes through the days', async () => {
    const environment = { LOMBARD_DATA_DIR: '/nonexistent' };
    const call = ['--url', service.operatorUrl, '--token', service.operatorToken];
    const proved = await lombard(['audit', 'verify', ...call], environment).ended;
    assert.equal(proved.code, 0, proved.stderr + proved.stdout);
    assert.match(
      proved.stdout,
      /^the audit trail is valid: \d+ rows proved; kept from position \d+; head \d+:[0-9a-f]{64}\n$/,
    );
    const [, head] = /head (\S+)/.exec(proved.stdout) ?? [];
    const json = await lombard(['audit', 'verify', '--json', '--head', head as string, ...call], environment).ended;
    assert.deepEqual([json.code, JSON.parse(json.stdout).valid], [0, true]);
    assert.equal(JSON.parse(json.stdout).rows, (await verify()).rows);
    await service.query('alter table audit disable trigger all');
    await service.query("update audit set actor = 'nobody' where id = (select min(id) from audit)");
    const broken = await lombard(['audit', 'verify', ...call], environment).ended;
    assert.equal(broken.code, 1);
    assert.match(
      broken.stdout,
      /^the audit trail is not valid: row \d+ at position \d+ is not what was sealed \(row_changed\)\n$/,
    );
  });
});
