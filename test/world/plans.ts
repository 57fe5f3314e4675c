import type pg from 'pg';

/** What statements read, as their plans say. */

export interface Statement {
  text: string;
  values: unknown[];
}

/** A node of a plan, as `explain (analyze, buffers, format json)` tells it. */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: PlanNode[];
}

/** What `explain` with the format JSON returns. */
interface Explained {
  'QUERY PLAN': [{ Plan: PlanNode }];
}

/** Every node of an explained plan, the outermost first. */
export function nodesOf(rows: readonly Explained[]): PlanNode[] {
  const walk = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(walk)];
  return rows.flatMap(({ 'QUERY PLAN': [{ Plan: outermost }] }) => walk(outermost));
}

/** The rows that nodes looked at, kept or not. */
export function rowsRead(nodes: readonly PlanNode[]): number {
  const rowsOf = (node: PlanNode) =>
    (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return nodes.reduce((sum, node) => sum + rowsOf(node) * (node['Actual Loops'] ?? 1), 0);
}

/** The pages that a plan touched, in memory or not. */
export function pagesOf([outermost]: readonly PlanNode[]): number {
  return (outermost?.['Shared Hit Blocks'] ?? 0) + (outermost?.['Shared Read Blocks'] ?? 0);
}

interface Reading {
  indexes: string[];
  read: number;
}

/** The indexes that statements read a table by, and how many of its rows they read. The statements run, changes included. */
export async function readBy(db: pg.Client, table: string, statements: readonly Statement[]): Promise<Reading> {
  const indexes = new Set<string>();
  let read = 0;
  for (const statement of statements) {
    await prepare(db, 'reading', statement.text);
    const found = await readByPrepared(db, table, { name: 'reading', values: statement.values });
    await db.query('deallocate reading');
    for (const index of found.indexes) indexes.add(index);
    read += found.read;
  }
  return { indexes: [...indexes].sort(), read };
}

/** Prepares a statement as connections that answer requests do: its plan knows no values. */
export async function prepare(db: pg.Client, name: string, text: string): Promise<void> {
  await db.query('set plan_cache_mode = force_generic_plan');
  await db.query(`prepare ${name} as ${text}`);
}

/** Like `readBy`, for a statement that is prepared. */
export async function readByPrepared(
  db: pg.Client,
  table: string,
  { name, values }: { name: string; values: readonly unknown[] },
): Promise<Reading> {
  const given = values.map((value) => literal(db, value)).join(', ');
  const { rows } = await db.query(`explain (analyze, format json) execute ${name} (${given})`);
  const nodes = nodesOf(rows).filter((node) => node['Relation Name'] === table && node['Node Type'] !== 'ModifyTable');
  return {
    indexes: [...new Set(nodes.map((node) => node['Index Name'] ?? node['Node Type']))].sort(),
    read: rowsRead(nodes),
  };
}

/** A value of a statement, null or a list of some included, as SQL. */
function literal(db: pg.Client, value: unknown): string {
  if (value === null) return 'null';
  if (!Array.isArray(value)) return db.escapeLiteral(String(value));
  const elements = value.map((element) => (element === null ? 'null' : JSON.stringify(String(element))));
  return db.escapeLiteral(`{${elements.join(',')}}`);
}

/** The statements that some work sends. */
export async function statementsOf(db: pg.Client, work: (tx: never) => Promise<unknown>): Promise<Statement[]> {
  const sent: Statement[] = [];
  const note = (first: string | pg.QueryConfig, values: unknown[] = []) => {
    const { text, values: own } = typeof first === 'string' ? { text: first, values } : first;
    sent.push({ text, values: own ?? [] });
    return db.query(text, own ?? []);
  };
  await work({ query: note, later: () => {} } as never);
  return sent;
}
