import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { accessToken } from '../world/access-token.ts';
import { isOnWorkers, ONE_CELL } from '../world/cells.ts';
import { createWorld } from '../world/client.ts';
import { REPOSITORY } from '../world/command.ts';
import { createDatabase } from '../world/database.ts';
import { Fleet } from '../world/fleet.ts';
import { hasPooler, NO_POOLER, POOL_CONNECTIONS, startPooler } from '../world/pooler.ts';
import { call, startTestService, type TestService } from '../world/service.ts';
import { until } from '../world/until.ts';

/** The connections of a process (docs/scale.md, Connections), and what of them a pooler lets through. */

/** Connections of each kind that one process opens at most, by their application_name. */
const POOLS = { LOMBARD_POOL: '3', LOMBARD_AUTH_POOL: '2', LOMBARD_BACKGROUND_POOL: '4' };
const REQUESTS = {
  lombard: 3,
  'lombard-auth': 2,
  'lombard-identity-version': 1,
  'lombard-limits': 1,
  'lombard-watch': 1,
};
const SESSIONS = {
  'lombard-background': 4,
  'lombard-webhooks': 4,
  'lombard-hearing': 1,
  'lombard-mails': 1,
  'lombard-statements': 1,
};
/** What the delivery engine has for several cells; what each pool that knows cells has more where workers of a Citus cluster have them. */
const WEBHOOKS_OF_CELLS = 16;
const BESIDE = 2;
/** Those that ask whether cells answer. */
const ASKING = 4;
const OF_CELLS = new Set(['lombard', 'lombard-auth', 'lombard-background', 'lombard-webhooks']);
const API_RATE = 120;

/** What docs/configuration.md says that a process has beside its pools, by the first words of its rows, and the sum that it names. */
const PAGE = readFileSync(join(REPOSITORY, 'docs/configuration.md'), 'utf8');
const beside = (role: string) => Number(new RegExp(`^\\| ${role}[^|]* \\| (\\d+) \\|`, 'm').exec(PAGE)?.[1]);
const POOL_NAMES = ['lombard', 'lombard-auth', 'lombard-background'];

/** Connections of a process by their names. */
async function connections(service: TestService): Promise<{ name: string; count: number }[]> {
  const { rows } = await service.query(
    `select application_name as name, count(*)::int as count from pg_stat_activity
     where datname = current_database() and application_name like 'lombard%' group by 1`,
  );
  return rows;
}

async function besidePools(service: TestService): Promise<number> {
  const others = (await connections(service)).filter(({ name }) => !POOL_NAMES.includes(name));
  return others.reduce((sum, { count }) => sum + count, 0);
}

test('a process without the role worker has as many beside its pools as docs/configuration.md says', async () => {
  const service = await startTestService({ ...POOLS, LOMBARD_ROLES: 'api,auth,operator' });
  try {
    const world = await createWorld(service);
    const token = await world.signIn();
    await service.client(token, 'GET', `/payments?client_id=${world.clientId}`);
    const expected = beside('any') + beside('`api`, `auth` or');
    await until(async () => (await besidePools(service)) === expected);
  } finally {
    await service.stop();
  }
});

test('a process of all roles opens no more connections of each kind than are documented', async () => {
  const service = await startTestService(POOLS);
  try {
    const world = await createWorld(service);
    const token = await world.signIn();
    const search = () => service.client(token, 'GET', `/payments?client_id=${world.clientId}`);
    const wrong = () => service.client('x'.repeat(43), 'GET', `/payments?client_id=${world.clientId}`);
    await Promise.all([
      ...Array.from({ length: 30 }, search),
      ...Array.from({ length: 10 }, wrong),
      ...Array.from({ length: 10 }, () => call(`${service.auth}/token`, 'POST', { raw: 'grant_type=none' })),
      ...Array.from({ length: 10 }, () => world.pay()),
    ]);
    const rows = await connections(service);
    const webhooks: Record<string, number> = ONE_CELL
      ? { 'lombard-webhooks': WEBHOOKS_OF_CELLS, 'lombard-cells': ASKING }
      : {};
    const documented: Record<string, number> = { ...REQUESTS, ...SESSIONS, ...webhooks };
    const further = (await isOnWorkers(service)) ? BESIDE : 0;
    for (const { name, count } of rows)
      assert.ok(count <= (documented[name] ?? 0) + (OF_CELLS.has(name) ? further : 0), `${count} of ${name}`);
    const rolesOfAll = beside('any') + beside('`api`, `auth` or') + beside('`worker`');
    assert.match(
      PAGE,
      new RegExp(`With all roles that is ${rolesOfAll}, so ${rolesOfAll + 8 + 8 + 6} with the default pools`),
    );
    if (!ONE_CELL && further === 0) assert.ok((await besidePools(service)) <= rolesOfAll);
    const always = ['lombard', 'lombard-background', 'lombard-identity-version', 'lombard-watch', 'lombard-hearing'];
    for (const name of always)
      assert.ok(
        rows.some((row) => row.name === name),
        name,
      );
  } finally {
    await service.stop();
  }
});

test('four processes through PgBouncer: PostgreSQL sees its connections only, and the limits hold', {
  skip: hasPooler() ? false : NO_POOLER,
}, async (t) => {
  const database = await createDatabase();
  const pooler = await startPooler(database.url, 'transaction');
  const environment = {
    ...POOLS,
    LOMBARD_ROLES: 'api,auth,operator',
    LOMBARD_API_RATE: String(API_RATE),
    DATABASE_URL: pooler.url,
    LOMBARD_SESSION_DATABASE_URL: database.url,
  };
  const fleet = await Fleet.create(environment, { url: pooler.url, drop: async () => {} });
  try {
    await fleet.growTo(4);
    const world = await createWorld(fleet);
    const token = await accessToken(fleet, world.contactId);
    const seen: number[] = [];
    const { count, most } = await fleet.allowed(API_RATE, async ({ api }) => {
      const { status } = await call(`${api}/payments?client_id=${world.clientId}`, 'GET', { token });
      if (seen.length < 20) seen.push(await pooled());
      return status === 200;
    });
    t.diagnostic(`at most ${Math.max(...seen)} connections of requests; ${count} of ${API_RATE} requests were allowed`);
    assert.ok(Math.max(...seen) <= POOL_CONNECTIONS, String(seen));
    assert.ok(count <= most, `${count} requests, at most ${most}`);
  } finally {
    await fleet.stop();
    await pooler.stop();
    await database.drop();
  }

  /** Connections of the server that are neither those for sessions nor those of a Citus cluster's servers to each other. */
  async function pooled(): Promise<number> {
    const { rows } = await fleet.query(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend' and not application_name = any ($1)
         and application_name not like 'citus%'`,
      [[...Object.keys(SESSIONS), 'lombard-cells']],
    );
    return rows[0].count;
  }
});
