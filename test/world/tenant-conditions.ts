/** Parses SQL just enough to find relations in a statement that do not name their tenant. */

const TOKEN = /'(?:[^']|'')*'|--[^\n]*|\$\d+|"[^"]+"|[a-z_][a-z_0-9]*(?:\.[a-z_][a-z_0-9]*)*|::|[^\s]/gi;
const BEGINS_RELATION = new Set(['from', 'join', 'update', 'using', 'into']);
/** Words after a relation that are not an alias of it. */
const NO_ALIAS = new Set([
  ...[
    'where',
    'on',
    'using',
    'join',
    'left',
    'right',
    'inner',
    'cross',
    'full',
    'lateral',
    'set',
    'order',
    'group',
    'limit',
    'for',
  ],
  ...[
    'union',
    'except',
    'intersect',
    'offset',
    'returning',
    'values',
    'select',
    'having',
    'window',
    'natural',
    'tablesample',
    'when',
    'and',
  ],
]);
const SET_OPERATION = new Set(['union', 'except', 'intersect']);

/**
 * The relations in a statement without their own `client_id = $n`, each as `relation alias`.
 * @param tenant the relations whose rows belong to a client, as the statements write them
 */
export function withoutTenant(sql: string, tenant: ReadonlySet<string>): string[] {
  const tokens = (sql.match(TOKEN) ?? []).filter((token) => !token.startsWith('--'));
  const missing: string[] = [];
  read(tokens, tenant, missing);
  return missing;
}

function read(tokens: string[], tenant: ReadonlySet<string>, missing: string[]): void {
  // A statement in parentheses is read separately; the other tokens stay in one line.
  const line: string[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const [token, next] = [tokens[at] as string, tokens[at + 1]?.toLowerCase() ?? ''];
    if (token !== '(' || !/^(select|with|insert|update|delete|\()$/.test(next)) {
      line.push(token);
      continue;
    }
    const end = closing(tokens, at);
    read(tokens.slice(at + 1, end), tenant, missing);
    line.push('(', ')');
    at = end;
  }
  let from = 0;
  for (let at = 0; at <= line.length; at += 1) {
    if (at < line.length && !SET_OPERATION.has((line[at] as string).toLowerCase())) continue;
    check(line.slice(from, at), tenant, missing);
    from = at + 1;
  }
}

function closing(tokens: string[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at += 1) {
    if (tokens[at] === '(') depth += 1;
    else if (tokens[at] === ')' && --depth === 0) return at;
  }
  return tokens.length;
}

function check(line: string[], tenant: ReadonlySet<string>, missing: string[]): void {
  const relations = relationsIn(line).filter(({ name }) => tenant.has(name));
  const named = new Set<string>();
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] !== '=') continue;
    for (const [column, value] of [
      [line[at - 1], line[at + 1]],
      [line[at + 1], line[at - 1]],
    ] as const) {
      if (!/(^|\.)client_id$/.test(column ?? '') || !/^(\$\d+|any)$/i.test(value ?? '')) continue;
      named.add((column as string).replace(/\.?client_id$/, ''));
    }
  }
  for (const { name, alias } of relations) {
    const alone = relations.length === 1 && named.has('');
    if (!named.has(alias) && !alone) missing.push(alias === name ? name : `${name} ${alias}`);
  }
}

function relationsIn(line: string[]): { name: string; alias: string }[] {
  const found: { name: string; alias: string }[] = [];
  let list = false;
  for (let at = 0; at < line.length; at += 1) {
    const word = (line[at] as string).toLowerCase();
    if (word === 'where' || word === 'set' || word === 'order' || word === 'returning') list = false;
    // After `insert into relation` comes a list of columns, some of which share the names of tables.
    if (BEGINS_RELATION.has(word)) list = word !== 'into';
    const begins = BEGINS_RELATION.has(word) || (word === ',' && list);
    const name = line[at + 1]?.toLowerCase();
    // An insert names its tenant among its values; `for update` and `do update` name no relation.
    if (!begins || !name || word === 'into' || name === 'set' || !/^[a-z]/.test(name)) continue;
    const after = line[at + 2] === 'as' ? line[at + 3] : line[at + 2];
    if (after === '(') continue;
    found.push({ name, alias: after && /^[a-z_]/i.test(after) && !NO_ALIAS.has(after.toLowerCase()) ? after : name });
  }
  return found;
}
