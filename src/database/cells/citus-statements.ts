import type pg from 'pg';
import { StartupError } from '../../values/errors.ts';
import type { ServiceRole } from '../service-role.ts';

/**
 * Translates the statements of migrations for cells whose schema Citus distributes (docs/decisions/0019). The tables of such a cell are on
 * one worker. Everything that exists once is on the coordinator only.
 */

/** The settings of a session that makes a distributed cell. What it makes goes to the workers, and triggers are allowed there. */
export const DISTRIBUTING =
  'set citus.enable_ddl_propagation = on; set citus.enable_schema_based_sharding = on; set citus.enable_unsafe_triggers = on';

/** The settings of a session that makes what stays on the coordinator. */
export const LOCAL = 'set citus.enable_ddl_propagation = off; set citus.enable_schema_based_sharding = off';

/** Workers have no rows of `clients`, so this foreign key is dropped. The service checks the client first, and clients are never deleted. */
const CLIENT_KEY = / references clients\b/g;
/**
 * Triggers that announce a change are left out. They ask the coordinator who listens. A worker cannot ask, and nobody listens there. How a
 * column is stored cannot be set, so a worker tries to compress what is compressed already.
 */
const LEFT_OUT = /^create trigger announce_|^alter table \w+ alter column \w+ set storage\b/;
const ANNOUNCEMENT = /\bperform pg_notify\([^;]*;/g;
/** Workers have no transition tables. */
const TRANSITION = /\breferencing (?:(?:new|old) table as \w+ ?)+\s*for each statement\b/;
const TRANSITION_TABLE = /\bfrom (added|removed)\b(?: (?!where\b|group\b|union\b|order\b)(\w+))?/g;
const ROW = { added: 'new', removed: 'old' };
/** `offset 0` makes a statement look up each of many rows separately. A row trigger has a single row, and a worker cannot plan `offset 0` there. */
const EACH_BY_ITSELF = / offset 0\)/g;
const TRIGGER_FUNCTION = /^(create (?:or replace )?function \w+\(\) returns trigger language plpgsql)\b/;
/**
 * A function that runs as the owner. One that makes a partition also makes its triggers. The flag that it sets for the audit trail's
 * trigger must also be set on the worker. Within a transaction (`transaction` of database.ts), Citus passes `set local` on to it.
 */
const OWNERS_FUNCTION =
  /^(create (?:or replace )?function .*?\blanguage plpgsql security definer set search_path from current)\b/s;
const SAID = /\bperform set_config\('(lombard\.\w+)', ('\w*'), true\)/g;

/** Citus merges a table only into another of its tables. */
const MERGE = new RegExp(
  [
    String.raw`\bmerge into (\w+) as t\s+using \(([^;]*)\) as b\s+on ([^;]*?)`,
    String.raw`(\s+when matched and t.n \+ b.n = 0 and t.amount \+ b.amount = 0 then delete)?`,
    String.raw`\s+when matched then update set ([^;]*?)\s+when not matched then insert (\([^;]*?\))\s+values \(([^;]*)\);`,
  ].join(''),
  'g',
);

/** Rewrites the `merge` of a roll-up as an upsert. Only one process runs it at a time. */
function upserted(statement: string): string {
  return statement.replace(MERGE, (_, table, source, condition: string, deletes, set: string, columns, values) => {
    const keys = [...condition.matchAll(/\bt\.(\w+) = b\.\1\b/g)].map(([, key]) => key);
    const upsert = `insert into ${table} as t ${columns} select ${values} from (${source}) as b
      on conflict (${keys.join(', ')}) do update set ${set.replaceAll('b.', 'excluded.')};`;
    const rest = `delete from ${table} where client_id in (select client_id from unnest(batch)) and n = 0 and amount = 0;`;
    return deletes ? `${upsert}\n${rest}` : upsert;
  });
}

/**
 * A statement in the form that Citus accepts for a distributed cell; undefined if the cell does not need it.
 * @param path of the cell; a worker calls a trigger's function without any other path
 */
export function distributed(statement: string, path: string): string | undefined {
  if (LEFT_OUT.test(statement)) return undefined;
  if (/^create (?:unlogged )?table\b/i.test(statement)) return statement.replace(CLIENT_KEY, '');
  if (OWNERS_FUNCTION.test(statement))
    return statement
      .replace(OWNERS_FUNCTION, "$1 set citus.enable_unsafe_triggers = on set citus.propagate_set_commands = 'local'")
      .replace(SAID, 'set local $1 = $2');
  if (TRIGGER_FUNCTION.test(statement))
    return statement
      .replace(TRIGGER_FUNCTION, `$1 set search_path = ${path}`)
      .replace(ANNOUNCEMENT, '')
      .replace(EACH_BY_ITSELF, ')')
      .replace(
        TRANSITION_TABLE,
        (_, table: 'added' | 'removed', name) => `from (select ${ROW[table]}.*) ${name ?? table}`,
      );
  return upserted(statement.replace(TRANSITION, 'for each row'));
}

/**
 * SQL that runs statements about roles on each worker, and fails if one of them fails. The settings keep a worker from passing them on to
 * the others.
 */
export function onWorkers(text: string): string {
  return `do $here$ declare failed text; begin ${sentToWorkers(text)} end $here$`;
}

function sentToWorkers(text: string): string {
  return `select nodename || ':' || nodeport || ': ' || result into failed
    from run_command_on_workers($workers$do $roles$ begin
      perform set_config('citus.enable_ddl_propagation', 'off', true); ${text} end $roles$$workers$) where not success limit 1;
    if failed is not null then raise exception '%', failed; end if;`;
}

const CLIENT_MAY_LOG_IN = `if not (select rolcanlogin from pg_roles where rolname = 'lombard_client') then
  alter role lombard_client login; end if;`;

/**
 * Makes the database's roles on its workers too. The coordinator connects to a worker as the role that asks. So the role of GraphQL may log
 * in on the workers, and has no password. It may log in on the coordinator too, because Citus gives a newly activated worker what its roles
 * have there. That change is not propagated: it would hold the role on the workers until the commit, and the statements there would wait
 * for it.
 */
export function rolesOnWorkers(): string {
  return `do $here$ declare failed text; sends constant text := current_setting('citus.enable_ddl_propagation'); begin
    perform set_config('citus.enable_ddl_propagation', 'off', true); ${CLIENT_MAY_LOG_IN}
    perform set_config('citus.enable_ddl_propagation', sends, true);
    ${sentToWorkers(`if to_regrole('lombard_service') is null then create role lombard_service nologin; end if;
      if to_regrole('lombard_client') is null then create role lombard_client; end if; ${CLIENT_MAY_LOG_IN}`)} end $here$`;
}

/** The statements that give the workers the roles that they lack. A worker that was added later lacks all of them. */
export async function missingRolesOnWorkers(client: Pick<pg.Client, 'query'>): Promise<string[]> {
  const there = await onEveryWorker(
    client,
    `select count(*) = 2 and bool_or(rolname = 'lombard_client' and rolcanlogin) from pg_roles where rolname in ('lombard_service', 'lombard_client')`,
  );
  return there ? [] : [rolesOnWorkers()];
}

/**
 * The statements that give the service's role what it needs on a cluster; none if it has that. The role bypasses the policies on every
 * server. They hide no row from it, but two things fail for a role with policies. Citus writes by COPY, which PostgreSQL refuses. And Citus
 * turns an `insert ... select` whose policies read a setting into a faulty statement. Whoever switches to lombard_client gets the policies
 * of that role.
 */
export async function serviceRoleOfCluster(client: pg.Client, { user, password }: ServiceRole): Promise<string[]> {
  const [literal, name] = [client.escapeLiteral(user), client.escapeIdentifier(user)];
  const { rows } = await client.query<{ bypasses: boolean }>(
    'select rolbypassrls as bypasses from pg_roles where rolname = $1',
    [user],
  );
  // Each server gets the statement separately. If Citus passed it on, the role would be held on the workers until the commit.
  const here = rows[0]?.bypasses ? [] : [`alter role ${name} bypassrls`];
  const there = await onEveryWorker(
    client,
    `select count(*) = 2 from pg_auth_members m join pg_roles g on g.oid = m.roleid join pg_roles r on r.oid = m.member
     where r.rolname = ${literal} and r.rolbypassrls and g.rolname in ('lombard_service', 'lombard_client')`,
  );
  if (there) return here;
  const login = `create role ${name} login${password === undefined ? '' : ` password ${client.escapeLiteral(password)}`}`;
  return [
    ...here,
    onWorkers(
      `if to_regrole(quote_ident(${literal})) is null then ${login}; end if;
      alter role ${name} bypassrls; grant lombard_service, lombard_client to ${name};`,
    ),
  ];
}

/**
 * Refuses an owner who may not make cells on workers. Roles, rights and Citus tables there need a superuser.
 * @throws StartupError
 */
export async function refuseOrdinaryOwner(client: Pick<pg.Client, 'query'>): Promise<void> {
  const { rows: own } = await client.query<{ name: string; super: boolean }>(
    'select quote_ident(rolname) as name, rolsuper as super from pg_roles where rolname = current_user',
  );
  const { name = '', super: isSuper = false } = own[0] ?? {};
  const { rows: workers } = isSuper
    ? await client.query<{ node: string; why: string }>(
        `select n.nodename || ':' || n.nodeport as node, r.result as why
         from run_command_on_workers($workers$select rolsuper from pg_roles where rolname = current_user$workers$) r
         join pg_dist_node n on n.nodename = r.nodename and n.nodeport = r.nodeport where r.result is distinct from 't'`,
      )
    : { rows: [{ node: 'the coordinator', why: 'f' }] };
  if (workers.length === 0) return;
  const where = workers.map(({ node, why }) => (why === 'f' ? node : `${node} (${why})`)).join(', ');
  throw new StartupError(
    `who makes cells on the workers of Citus is a superuser on every server, and ${name} is not on ${where}: ` +
      `run there as an administrator: alter role ${name} superuser; or migrate as a role that is one (docs/scale.md)`,
  );
}

/** Whether a boolean query gives `true` on every worker. A worker that cannot answer counts as `false`. */
async function onEveryWorker(client: Pick<pg.Client, 'query'>, text: string): Promise<boolean> {
  const { rows } = await client.query<{ all: boolean }>(
    `select coalesce(bool_and(result = 't'), true) as "all" from run_command_on_workers($workers$${text}$workers$)`,
  );
  return rows[0]?.all ?? true;
}
