import pg from 'pg';

/** The privileges of the service's role and of GraphQL's reader belong to a schema just like its tables. */
const ROLES = "('lombard_client', 'PUBLIC')";
const OURS = "n.nspname = 'public'";
/** Daily partitions are left out, because they differ from day to day. */
const LASTING = "c.relname !~ '_\\d{8}$'";
const RELATION = "n.nspname || '.' || c.relname";

/** Every object of a schema as one text, independent of the order in which the objects were created. */
const OBJECTS = [
  `select 'column ' || ${RELATION} || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then ' not null' else '' end
     || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') || a.attidentity::text || a.attgenerated::text
   from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
   left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
   where ${OURS} and ${LASTING} and c.relkind in ('r', 'p', 'v', 'c') and a.attnum > 0 and not a.attisdropped`,
  `select 'relation ' || ${RELATION} || ' ' || c.relkind::text || c.relpersistence::text || c.relrowsecurity::text || coalesce(c.reloptions::text, '')
     || coalesce(pg_get_partkeydef(c.oid), '') || coalesce(pg_get_expr(c.relpartbound, c.oid), '')
   from pg_class c join pg_namespace n on n.oid = c.relnamespace where ${OURS} and ${LASTING} and c.relkind in ('r', 'p', 'v', 'S')`,
  `select pg_get_indexdef(c.oid) from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
   join pg_namespace n on n.oid = c.relnamespace where ${OURS} and t.relname !~ '_\\d{8}$'`,
  `select 'constraint ' || ${RELATION} || ' ' || k.conname || ' ' || pg_get_constraintdef(k.oid) || k.convalidated::text
   from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
   where ${OURS} and ${LASTING} and k.contype <> 'n'`,
  `select pg_get_functiondef(p.oid) || coalesce(p.proacl::text, '') from pg_proc p join pg_namespace n on n.oid = p.pronamespace
   where ${OURS} and p.prokind in ('f', 'p')`,
  `select pg_get_triggerdef(g.oid) || g.tgenabled::text from pg_trigger g join pg_class c on c.oid = g.tgrelid
   join pg_namespace n on n.oid = c.relnamespace where ${OURS} and ${LASTING} and not g.tgisinternal`,
  `select 'view ' || ${RELATION} || ' ' || pg_get_viewdef(c.oid) from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where ${OURS} and c.relkind = 'v'`,
  `select 'type ' || n.nspname || '.' || t.typname || ' ' || string_agg(e.enumlabel, ',' order by e.enumsortorder)
   from pg_enum e join pg_type t on t.oid = e.enumtypid join pg_namespace n on n.oid = t.typnamespace group by n.nspname, t.typname`,
  `select 'policy ' || schemaname || '.' || tablename || ' ' || policyname || ' ' || cmd || coalesce(qual, '') || coalesce(with_check, '')
   from pg_policies where policyname <> 'service'`,
  `select 'grant ' || table_schema || '.' || table_name || '.' || column_name || ' ' || privilege_type || ' to ' || grantee
   from information_schema.column_privileges where grantee in ${ROLES}
   and table_schema = 'public' and table_name !~ '_\\d{8}$'`,
  `select 'comment ' || ${RELATION} || coalesce('.' || a.attname, '') || ' ' || d.description
   from pg_description d join pg_class c on c.oid = d.objoid and d.classoid = 'pg_class'::regclass
   join pg_namespace n on n.oid = c.relnamespace left join pg_attribute a on a.attrelid = c.oid and a.attnum = d.objsubid and d.objsubid > 0
   where ${OURS} and ${LASTING}`,
];

/** The schema of a database, sorted. Databases with equal catalogues have the same schema. */
export async function catalogueOf(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const texts: string[] = [];
    for (const sql of OBJECTS) {
      const { rows } = await client.query<[string]>({ text: sql, rowMode: 'array' });
      texts.push(...rows.map(([text]) => plain(text)));
    }
    return texts.sort();
  } finally {
    await client.end();
  }
}

/** Removes parentheses: conditions of triggers lose them in a dump. */
function plain(text: string): string {
  return text.startsWith('CREATE TRIGGER') ? text.replace(/[()]/g, '') : text;
}
