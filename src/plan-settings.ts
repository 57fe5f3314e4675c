import type pg from 'pg';

/**
 * What the plans of the statements rely on. Migrating sets it for the service's role in its database, and not for each session: a pooler
 * would hand a session's settings on to other sessions. New connections have it, whatever the server's configuration says.
 */
const PLAN_SETTINGS: Record<string, string> = {
  // An index costs little more than the table: the rows that are read often are in memory. By default (4) pages become scans and sorts.
  random_page_cost: '1.1',
  // Plans of short queries cost less than compiling them.
  jit: 'off',
  // Parallel queries would take the cores that other requests need.
  max_parallel_workers_per_gather: '0',
  // A prepared statement is planned once. By default PostgreSQL would plan the statement of a payments page at every call, because custom
  // plans look slightly cheaper to it. Planning takes 800 us, longer than running the plan.
  plan_cache_mode: 'force_generic_plan',
};

/** `setUp` of background connections: their statements run seldom, and on few or many rows. */
export const PLAN_EACH_TIME = 'set plan_cache_mode = auto';

/** What the role lacks in the database that the client is connected to, as `name=value`. */
async function missingPlanSettings(client: pg.Client, role: string): Promise<string[]> {
  const { rows } = await client.query<{ setting: string }>(
    `select unnest(s.setconfig) as setting from pg_db_role_setting s
     join pg_database d on d.oid = s.setdatabase join pg_roles r on r.oid = s.setrole
     where d.datname = current_database() and r.rolname = $1`,
    [role],
  );
  const there = new Set(rows.map(({ setting }) => setting));
  return Object.entries(PLAN_SETTINGS)
    .map(([name, value]) => `${name}=${value}`)
    .filter((setting) => !there.has(setting));
}

/**
 * The statements that give a role what it lacks in the database that the client is connected to; none where it has everything.
 * A role may run them for itself; for another role it needs to administer that role.
 */
export async function planSettingStatements(client: pg.Client, role: string): Promise<string[]> {
  const database = client.escapeIdentifier(client.database ?? '');
  return (await missingPlanSettings(client, role)).map((setting) => {
    const [name = '', value = ''] = setting.split('=');
    return `alter role ${client.escapeIdentifier(role)} in database ${database} set ${name} = '${value}'`;
  });
}
