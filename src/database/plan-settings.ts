import type pg from 'pg';
import { onWorkers } from './cells/citus-statements.ts';
import { isDistributed } from './cells/pool.ts';
import type { Transaction } from './database.ts';

/**
 * Settings that the statements and their plans rely on. Migrating sets them for the service's role in its database. They are not set per
 * session, because a pooler would pass a session's settings on to others. New connections have them, whatever the server's configuration
 * says.
 */
const ROLE_SETTINGS: Record<string, string> = {
  // Frequently read rows are in memory, so an index costs little more than the table. With the default (4), page queries become scans and
  // sorts.
  random_page_cost: '1.1',
  // Compiling short queries takes longer than running them.
  jit: 'off',
  // Parallel queries would take cores that other requests need.
  max_parallel_workers_per_gather: '0',
  // A prepared statement is planned once. By default PostgreSQL would plan the statement of a payments page at every call, because custom
  // plans look slightly cheaper to it. Planning takes 800 us, longer than running the plan.
  plan_cache_mode: 'force_generic_plan',
  // A change that has waited for a lock must see what was committed meanwhile. In a snapshot from before, it would fail, or spend a limit
  // twice that only an advisory lock guards.
  default_transaction_isolation: 'read committed',
};

const DISTRIBUTED_ROLE_SETTINGS = {
  ...ROLE_SETTINGS,
  // Citus sends a statement to a worker together with its values, so every call is planned again, on the coordinator and on the worker. A
  // generic plan of a prepared statement fails for some statements.
  plan_cache_mode: 'force_custom_plan',
  // The service's own sessions say it at their start (client.ts). The coordinator's sessions on a worker do not, and dates become text there.
  DateStyle: 'ISO',
};

/** `setUp` of background connections. Their statements run rarely, on few rows or on many, so each run gets a plan of its own. Citus does this anyway. */
export function planEachTime(distributed = false): string {
  return distributed ? '' : 'set plan_cache_mode = auto';
}

/** For background work that repeats its statements on as many rows each time: they are planned once, until its transaction ends. */
export function planOnce(tx: Transaction): void {
  if (!isDistributed(tx)) tx.later('set local plan_cache_mode = force_generic_plan');
}

/** The settings that the role lacks in the connected database, as `name=value`. */
async function missingRoleSettings(client: pg.Client, role: string, wanted: Record<string, string>): Promise<string[]> {
  const { rows } = await client.query<{ setting: string }>(
    `select unnest(s.setconfig) as setting from pg_db_role_setting s
     join pg_database d on d.oid = s.setdatabase join pg_roles r on r.oid = s.setrole
     where d.datname = current_database() and r.rolname = $1`,
    [role],
  );
  const there = new Set(rows.map(({ setting }) => setting));
  return Object.entries(wanted)
    .map(([name, value]) => `${name}=${value}`)
    .filter((setting) => !there.has(setting));
}

/**
 * The statements that give a role the settings that it lacks in the connected database; none if it has them all. A role may run them for
 * itself. To run them for another role, it must administer that role.
 * @param distributed whether Citus workers hold cells
 */
export async function roleSettingStatements(client: pg.Client, role: string, distributed: boolean): Promise<string[]> {
  const database = client.escapeIdentifier(client.database ?? '');
  return (await missingRoleSettings(client, role, distributed ? DISTRIBUTED_ROLE_SETTINGS : ROLE_SETTINGS)).map(
    (setting) => {
      const [name = '', value = ''] = setting.split('=');
      return `alter role ${client.escapeIdentifier(role)} in database ${database} set ${name} = '${value}'`;
    },
  );
}

/**
 * The statements that give roles the settings on the Citus workers; none if they have them there. The coordinator connects to a worker as
 * the role that asks, and passes on no setting of the session or of the coordinator's role.
 */
export async function workerRoleSettingStatements(client: pg.Client, roles: readonly string[]): Promise<string[]> {
  const settings = Object.entries(DISTRIBUTED_ROLE_SETTINGS);
  const literals = (texts: readonly string[]) => texts.map((text) => client.escapeLiteral(text)).join(', ');
  const { rows } = await client.query<{ made: boolean }>(
    `select coalesce(bool_and(result = '${roles.length}'), true) as made from run_command_on_workers($workers$
       select count(*) from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase join pg_roles r on r.oid = s.setrole
       where d.datname = current_database() and r.rolname in (${literals(roles)})
         and s.setconfig @> array[${literals(settings.map(([name, value]) => `${name}=${value}`))}]$workers$)`,
  );
  if (rows[0]?.made) return [];
  const database = client.escapeIdentifier(client.database ?? '');
  const statements = roles.flatMap((role) =>
    settings.map(
      ([name, value]) =>
        `alter role ${client.escapeIdentifier(role)} in database ${database} set ${name} = '${value}';`,
    ),
  );
  return [onWorkers(statements.join(' '))];
}
