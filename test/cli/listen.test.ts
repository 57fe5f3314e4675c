import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { verifyNotification } from '../../sdk/src/index.ts';
import { type Command, printed } from '../world/command.ts';
import { type Sandbox, startSandbox } from '../world/demonstration.ts';
import { Receiver } from '../world/receivers/receiver.ts';

describe('lombard listen', () => {
  let sandbox: Sandbox;
  let model: Record<string, string>;
  before(async () => {
    sandbox = await startSandbox();
    [model] = await sandbox.json('payments', 'list', '--status', 'complete', '--page-size', '1');
  });
  const started: Command[] = [];
  after(async () => {
    // Where a test failed, its command still runs.
    for (const { child } of started) child.kill('SIGKILL');
    await sandbox.stop();
  });
  const start = (...args: string[]) => {
    const command = sandbox.start(...args);
    started.push(command);
    return command;
  };

  const pay = () => {
    const { trade_id, beneficiary_id, payment_currency } = model;
    const fields = { trade_id, beneficiary_id, payment_currency, amount: 10, payment_date: '2035-01-15' };
    return sandbox.operator('POST', '/payments', { client_id: 'CLI000001', contact_id: 'CON000002', ...fields });
  };
  const subscriptions = async () => (await sandbox.json('subscriptions', 'list')).length;

  test('forwards with both signatures, survives a restart, removes its subscription, counts', async () => {
    const receiver = await Receiver.start();
    const began = Date.now();
    const before = await subscriptions();
    const types = 'PAYMENT_STATUS_CHANGE';
    const listening = start('listen', '--forward-to', receiver.url(), '--types', types, '--json');
    const [, secret] = await printed(listening, /"secret":"(whsec_[^"]+)"/);
    assert.equal(await subscriptions(), before + 1);
    const first = await pay();
    const [created] = await receiver.wait(2);
    const verified = await verifyNotification({
      url: receiver.url(),
      headers: created?.headers ?? {},
      body: created?.body ?? '',
      secret: secret as string,
    });
    assert.equal(verified.type, 'PAYMENT_STATUS_CHANGE');

    await sandbox.restart();
    receiver.behaviour = (_request, response) => void response.writeHead(500).end();
    const second = await pay();
    await receiver.wait(4, 30);
    const told = receiver.received.map(({ body }) => {
      const { data, payment_webhook_status } = JSON.parse(body.toString());
      return `${data[0].payment_id} ${payment_webhook_status[0]}`;
    });
    const statuses = ['CREATED', 'PENDING_OF_AUTHORIZATION'];
    assert.deepEqual(
      told,
      [first, second].flatMap(({ payment_id }) => statuses.map((status) => `${payment_id} ${status}`)),
    );

    listening.child.kill('SIGINT');
    const { code, stdout } = await listening.ended;
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text));
    assert.equal(code, 130);
    assert.deepEqual(lines.at(-1), { came: 4, accepted: 2, failed: 2 });
    const times = lines.slice(1, -1).map(({ at }) => at);
    for (const at of times) assert.equal(new Date(at).toISOString(), at);
    assert.deepEqual(times, times.toSorted());
    assert.ok(Date.parse(times[0]) >= began && Date.parse(times.at(-1)) <= Date.now(), times.join(' '));
    assert.deepEqual(
      lines.slice(1, -1).map(({ type, entity, status }) => [type, entity, status]),
      [first, first, second, second].map(({ payment_id }, n) => [types, payment_id, n < 2 ? 200 : 500]),
    );
    assert.equal(await subscriptions(), before);
    await receiver.stop();
  });

  test('finds the service again at another address', async () => {
    const receiver = await Receiver.start();
    const before = await subscriptions();
    const listening = start('listen', '--forward-to', receiver.url(), '--types', 'PAYMENT_STATUS_CHANGE', '--json');
    await printed(listening, /"secret":/);
    await pay();
    await receiver.wait(2);
    await sandbox.restart('SIGTERM', 'moved');
    await pay();
    await receiver.wait(4, 30);
    listening.child.kill('SIGINT');
    const { code, stdout } = await listening.ended;
    assert.equal(code, 130);
    assert.deepEqual(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? ''), { came: 4, accepted: 4, failed: 0 });
    assert.equal(await subscriptions(), before);
    await receiver.stop();
  });

  test('names the payee or the file that a notification is about', async () => {
    const receiver = await Receiver.start();
    const listening = start('listen', '--forward-to', receiver.url(), '--json');
    await printed(listening, /"secret":"(whsec_[^"]+)"/);
    const { entity_id: payee } = await sandbox.json('trigger', 'BENEFICIARY_STATUS_CHANGE');
    const path = join(sandbox.dataDir, 'payments.csv');
    writeFileSync(path, 'payment_currency\nXXX\n');
    const { stdout: sent } = await sandbox.run('payments', 'upload', path, '--sell_currency', 'GBP', '--json');
    const { mass_payment_id: file } = JSON.parse(sent);
    await receiver.wait(3);
    listening.child.kill('SIGINT');
    const { stdout } = await listening.ended;
    const lines = stdout.trimEnd().split('\n').slice(1, -1);
    const entities = new Set(lines.map((text) => JSON.parse(text).entity));
    assert.deepEqual(entities, new Set([payee, file]));
    await receiver.stop();
  });

  test('hundreds at once, and a service that is killed meanwhile: nothing is lost, those of one payment keep their order', async () => {
    const receiver = await Receiver.start();
    const listening = start('listen', '--forward-to', receiver.url(), '--types', 'PAYMENT_STATUS_CHANGE', '--json');
    await printed(listening, /"secret":/);
    const { trade_id, beneficiary_id, payment_currency } = model;
    const ids = Array.from({ length: 400 }, (_, at) => `BULK-${at}`);
    const lines = ids.map((payment_id) =>
      JSON.stringify({
        ...{ payment_id, client_id: 'CLI000001', contact_id: 'CON000002', trade_id, beneficiary_id, payment_currency },
        ...{ amount: 10, payment_date: '2035-01-15' },
      }),
    );
    await sandbox.importLines('payments?notify=true', lines);
    await receiver.wait(100, 60);
    await sandbox.restart('SIGKILL');
    await receiver.wait(2 * ids.length, 120);
    listening.child.kill('SIGINT');
    const { code, stdout } = await listening.ended;
    const told = new Map<string, string[]>();
    for (const { body, headers } of receiver.received) {
      const { data, payment_webhook_status } = JSON.parse(body.toString());
      const id = String(headers['x-service-notification-id']);
      const statuses = told.get(data[0].payment_id) ?? [];
      // After a kill the last one can come again; it is the same notification then.
      const said = `${payment_webhook_status[0]} ${id}`;
      if (!statuses.includes(said)) told.set(data[0].payment_id, [...statuses, said]);
    }
    assert.deepEqual([...told.keys()].toSorted(), ids.toSorted());
    for (const [id, statuses] of told)
      assert.deepEqual(
        statuses.map((said) => said.split(' ')[0]),
        ['CREATED', 'PENDING_OF_AUTHORIZATION'],
        id,
      );
    const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
    assert.deepEqual([code, last.failed, last.came], [130, 0, receiver.received.length]);
    assert.equal(last.accepted, last.came);
    await receiver.stop();
  });

  test('Ctrl-C forwards nothing more: what is under way or waits has failed; a second one changes nothing', async () => {
    const receiver = await Receiver.start();
    receiver.behaviour = () => {};
    const before = await subscriptions();
    for (const signals of [1, 2]) {
      const listening = start('listen', '--forward-to', receiver.url(), '--types', 'PAYMENT_STATUS_CHANGE', '--json');
      await printed(listening, /"secret":/);
      const arrived = receiver.received.length;
      await pay();
      await receiver.wait(arrived + 1);
      for (let sent = 0; sent < signals; sent += 1) listening.child.kill('SIGINT');
      const { code, stdout, stderr } = await listening.ended;
      const counts = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
      assert.deepEqual([code, stderr, counts.accepted, counts.failed], [130, '', 0, counts.came]);
      assert.match(stdout, /"status":null,"reason":"interrupted"/);
      assert.equal(receiver.received.length, arrived + 1);
      assert.equal(await subscriptions(), before);
    }
    await receiver.stop();
  });

  test('a reader that closes the output ends it too, and its subscription', async () => {
    const before = await subscriptions();
    const listening = start('listen', '--forward-to', 'http://127.0.0.1:9/hook', '--json');
    await printed(listening, /"secret":/);
    listening.child.stdout?.destroy();
    await pay();
    const { code, stderr } = await listening.ended;
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(await subscriptions(), before);
  });

  test('a service that does not answer keeps Ctrl-C no longer than seconds', async () => {
    const listening = start('listen', '--forward-to', 'http://127.0.0.1:9/hook');
    await printed(listening, /whsec_/);
    sandbox.pause();
    listening.child.kill('SIGINT');
    listening.child.kill('SIGINT');
    const { code, stderr } = await listening.ended.finally(sandbox.resume);
    assert.equal(code, 130);
    assert.match(stderr, /^lombard: the subscription \S+ could not be removed \(no answer in time\)/);
  });

  test('a receiver that is not there is told and not tried again; a wrong address is exit 2', async () => {
    const listening = start('listen', '--forward-to', 'http://127.0.0.1:9/hook');
    try {
      await printed(listening, /whsec_/);
      await pay();
      await printed(listening, /ECONNREFUSED[\s\S]*ECONNREFUSED/);
    } finally {
      listening.child.kill('SIGINT');
    }
    const { stdout } = await listening.ended;
    assert.match(stdout, /^\d\d:\d\d:\d\d {2}PAYMENT_STATUS_CHANGE +PAY\d+ {2}ECONNREFUSED/m);
    assert.match(stdout, /2 came, 0 accepted, 2 failed\n$/);
    assert.equal((await sandbox.run('listen', '--forward-to', 'nowhere')).code, 2);
  });
});
