import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect, createServer, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { migrate } from '../../../src/database/migrate.ts';
import { CLIENT_ROLE } from '../../../src/http/graphql/read-only.ts';
import { StartupError } from '../../../src/values/errors.ts';
import { createDatabase, log, type TestDatabase } from '../../world/database.ts';
import { createSubscriber } from '../../world/graphql.ts';
import { freePort, listening } from '../../world/ports.ts';
import { startTestService } from '../../world/service.ts';
import { until } from '../../world/until.ts';

/** An existing server, where the service is a user without privileges of its own (docs/graphql.md, The database). */
describe('GraphQL on a server whose user is no superuser', () => {
  const user = `service_${randomUUID().slice(0, 8)}`;
  let base: TestDatabase;
  let admin: pg.Client;
  let url: string;
  before(async () => {
    base = await createDatabase();
    admin = new pg.Client({ connectionString: base.url });
    await admin.connect();
    await admin.query(`create role ${user} login password 'service'`);
    await admin.query(`create database ${user} owner ${user}`);
    const address = new URL(base.url);
    address.username = user;
    address.password = 'service';
    address.pathname = `/${user}`;
    url = address.toString();
  });
  after(async () => {
    await admin.query(`drop database if exists ${user} with (force)`);
    await admin.query(`drop owned by ${user}; drop role ${user}`);
    await admin.end();
    await base.drop();
  });

  test('it is refused with one line that says what an administrator must run', async () => {
    await assert.rejects(migrate(url, log), (error: Error) => {
      assert.ok(error instanceof StartupError);
      assert.match(error.message, new RegExp(`let an administrator run: .*grant ${CLIENT_ROLE} to ${user}`));
      assert.doesNotMatch(error.message, /\n/);
      return true;
    });
  });

  test('once that has been run, it works, and tenants are apart', async () => {
    await admin.query(`grant ${CLIENT_ROLE} to ${user}`);
    const service = await startTestService({}, { url, drop: async () => {} });
    try {
      const one = await createSubscriber(service);
      const other = await createSubscriber(service);
      const id = await one.subscribe({ secret: 's' });
      await one.history(id, 2, 1);
      const query = '{ subscriptions { totalCount nodes { id secret notifications { totalCount nodes { body } } } } }';
      assert.equal((await one.graphql(query)).data.subscriptions.nodes[0].notifications.nodes.length, 2);
      assert.equal((await other.graphql(query)).data.subscriptions.totalCount, 0);
    } finally {
      await service.stop();
    }
  });

  test('two databases of one server may be migrated at the same moment', async () => {
    const names = [1, 2, 3].map((n) => `${user}_${n}`);
    for (const name of names) await admin.query(`create database ${name}`);
    try {
      await Promise.all(
        names.map((name) => migrate(Object.assign(new URL(base.url), { pathname: `/${name}` }).toString(), log)),
      );
    } finally {
      for (const name of names) await admin.query(`drop database ${name} with (force)`);
    }
  });
});

describe('GraphQL while the database is gone', () => {
  for (const [how, cut] of [
    ['gone', (socket: Socket) => socket.destroy()],
    ['silent', (socket: Socket) => socket.pause()],
  ] as const)
    test(`${how}: 502 within three seconds, and all is well once it is back`, async () => {
      const database = await createDatabase();
      const target = new URL(database.url);
      const sockets = new Set<Socket>();
      const proxy = createServer((near) => {
        const far = connect(Number(target.port), target.hostname);
        for (const [one, other] of [
          [near, far],
          [far, near],
        ] as const) {
          sockets.add(one);
          one.on('error', () => other.destroy());
          one.on('close', () => other.destroy());
          one.pipe(other);
        }
      });
      // It closes, and comes back: nobody else gets the port meanwhile.
      const port = await listening(proxy, await freePort());
      const service = await startTestService(
        {},
        { url: Object.assign(new URL(target), { port }).toString(), drop: () => database.drop() },
      );
      try {
        const world = await createSubscriber(service);
        const id = await world.subscribe();
        // So that the token is known, and connections are waiting.
        await Promise.all(Array.from({ length: 4 }, () => world.graphql('{ subscriptions { totalCount } }')));
        proxy.close();
        for (const socket of sockets) cut(socket);
        const began = performance.now();
        const queries = [
          '{ subscriptions { totalCount } }',
          `mutation { deleteSubscription(input: {id: "${id}"}) { subscription { id } } }`,
        ];
        for (const answer of await Promise.all(queries.map((query) => world.graphql(query)))) {
          assert.equal(answer.status, 502);
          assert.equal(answer.body.code, 'integration_error');
          assert.doesNotMatch(answer.text, /ECONN|127\.0\.0\.1|select/);
        }
        assert.ok(performance.now() - began < 10_000);
        for (const socket of sockets) socket.destroy();
        await listening(proxy, port);
        const found = await until(async () => {
          const answer = await world.graphql('{ subscriptions { totalCount nodes { id } } }');
          return answer.status === 200 && answer.data.subscriptions;
        });
        assert.deepEqual(found, { totalCount: 1, nodes: [{ id }] });
      } finally {
        await service.stop();
        proxy.close();
        for (const socket of sockets) socket.destroy();
      }
    });
});
