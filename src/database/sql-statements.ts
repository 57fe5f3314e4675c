/** What may hold a semicolon that ends no statement: a comment, a text, a quoted name, a body between dollars. Or the semicolon. */
const PARTS = /--[^\n]*|'(?:[^']|'')*'|"[^"]*"|(\$\w*\$)[\s\S]*?\1|;/g;

/** The statements of an SQL text, one by one, without the comments that stand before them. */
export function splitStatements(sql: string): string[] {
  const statements: string[] = [];
  let begin = 0;
  const take = (end: number) => {
    const statement = sql.slice(begin, end).replace(/^(?:\s+|--[^\n]*\n?)+/, '');
    if (statement !== '') statements.push(statement.trimEnd());
    begin = end + 1;
  };
  for (const part of sql.matchAll(PARTS)) if (part[0] === ';') take(part.index);
  take(sql.length);
  return statements;
}
