import type pg from 'pg';

/** The role as which the service runs, if another one owns the database (LOMBARD_MIGRATE_DATABASE_URL). */
export interface ServiceRole {
  user: string;
  /** For a role that has to be created. */
  password: string | undefined;
}

/** The role that holds the rights of the service. The service's role is a member of it. It cannot log in. */
const GROUP = 'lombard_service';
/** Tables whose rows the service may add and read, but never change or delete: the audit trail and its chain. */
const APPEND_ONLY = /^audit(_chain|_default|_heads)?$/;
/** PostgreSQL's bit for a view that accepts inserts. Such a view leads to a table and needs the same rights (cells/views.ts). */
const INSERTS = 1 << 3;
/** Tables that the service may only read. */
const READ_ONLY = /^migrations$|^migration_steps$/;

interface Relation {
  name: string;
  kind: 'table' | 'sequence' | 'view';
  secured: boolean;
  /** The rights that the group has on it now. */
  granted: string[];
}

/**
 * The statements that create the service's role and give it its rights; none if it has them. The role needs no right to alter anything.
 * @param pending whether migrations are missing
 */
export async function serviceRoleStatements(client: pg.Client, role: ServiceRole, pending: boolean): Promise<string[]> {
  const user = client.escapeIdentifier(role.user);
  const { rows } = await client.query<{ group: boolean; role: boolean; reader: boolean; member: boolean }>(
    `select exists (select from pg_roles where rolname = $1) as "group", exists (select from pg_roles where rolname = $2) as role,
       exists (select from pg_roles where rolname = 'lombard_client') as reader,
       exists (select from pg_auth_members m join pg_roles g on g.oid = m.roleid join pg_roles r on r.oid = m.member
         where r.rolname = $2 and g.rolname in ($1, 'lombard_client') having count(distinct g.oid) = 2) as member`,
    [GROUP, role.user],
  );
  const there = rows[0] ?? { group: false, role: false, reader: false, member: false };
  const statements: string[] = [];
  if (!there.group) statements.push(`create role ${GROUP} nologin`);
  if (!there.role) {
    const password = role.password === undefined ? '' : ` password ${client.escapeLiteral(role.password)}`;
    statements.push(`create role ${user} login${password}`);
  }
  if (!there.member) statements.push(`grant ${GROUP}, lombard_client to ${user}`);
  // The relations of an empty database are not known yet. The next migrate grants the rest.
  if (pending) return [...statements, ...(await missingUsage(client, there.group))];
  return [...statements, ...(await serviceRightsStatements(client, there.group))];
}

/** Whether the role that holds the service's rights exists. */
export async function hasServiceGroup(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ there: boolean }>(
    'select exists (select from pg_roles where rolname = $1) as there',
    [GROUP],
  );
  return rows[0]?.there ?? false;
}

/** The statements that give the service's role what it lacks in the first schema of the path. @param group whether the group role exists */
export async function serviceRightsStatements(client: pg.Client, group = true): Promise<string[]> {
  const statements = await missingUsage(client, group);
  for (const relation of await relations(client, group)) statements.push(...missingGrants(client, relation));
  return statements;
}

async function missingUsage(client: pg.Client, group: boolean): Promise<string[]> {
  const { rows } = await client.query<{ schema: string }>(
    `select quote_ident(nspname) as schema from pg_namespace
     where nspname = current_schema() and case when $1 then not has_schema_privilege($2, oid, 'usage') else true end`,
    [group, GROUP],
  );
  return rows.map(({ schema }) => `grant usage on schema ${schema} to ${GROUP}`);
}

async function relations(client: pg.Client, group: boolean): Promise<Relation[]> {
  const { rows } = await client.query<Relation>(
    `select c.relname as name, case when c.relkind = 'S' then 'sequence'
         when c.relkind = 'v' and pg_relation_is_updatable(c.oid, false) & ${INSERTS} = 0 then 'view' else 'table' end as kind,
       c.relrowsecurity and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'service') as secured,
       case when not $1 then '{}' when c.relkind = 'S'
         then array(select p from unnest('{usage,select,update}'::text[]) p where has_sequence_privilege($2, c.oid, p))
         else array(select p from unnest('{select,insert,update,delete}'::text[]) p where has_table_privilege($2, c.oid, p)) end as granted
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = current_schema() and c.relkind in ('r', 'p', 'S', 'v') and (not c.relispartition or c.relname ~ '_default$')
     order by 1`,
    [group, GROUP],
  );
  return rows;
}

function missingGrants(client: pg.Client, { name, kind, secured, granted }: Relation): string[] {
  const relation = client.escapeIdentifier(name);
  const statements: string[] = [];
  const rights = rightsTo(name, kind);
  const missing = rights.filter((right) => !granted.includes(right));
  const excess = granted.filter((right) => !rights.includes(right));
  const what = kind === 'sequence' ? 'sequence' : 'table';
  if (missing.length > 0) statements.push(`grant ${missing.join(', ')} on ${what} ${relation} to ${GROUP}`);
  if (excess.length > 0) statements.push(`revoke ${excess.join(', ')} on ${what} ${relation} from ${GROUP}`);
  // Row level security keeps the clients of GraphQL apart. The service itself names the tenant in each statement.
  if (secured) statements.push(`create policy service on ${relation} to ${GROUP} using (true) with check (true)`);
  return statements;
}

function rightsTo(name: string, kind: Relation['kind']): string[] {
  if (kind === 'sequence') return ['usage', 'select', 'update'];
  if (kind === 'view' || READ_ONLY.test(name)) return ['select'];
  if (APPEND_ONLY.test(name)) return ['select', 'insert'];
  return ['select', 'insert', 'update', 'delete'];
}
