/** A column that a statement finds rows by, or writes. */
interface Column<Row> {
  /** As PostgreSQL calls it. */
  type: string;
  of: (row: Row) => unknown;
}

/**
 * The rows that a statement is about, for statements that serve one row as well as many. One row is found by parameters, so that its plan
 * does not depend on how many rows lists have. Rows of one client name it by a parameter of their own. All names are the program's own.
 */
export class RowList<Row, Name extends string> {
  /** The parameters of the statement, from `$1` on. */
  readonly values: unknown[];
  /** SQL of the client that owns the row. */
  readonly client: string;
  readonly #columns: [name: string, column: Column<Row>][];
  readonly #form: 'one' | 'of-client' | 'of-clients';

  /** @param rows at least one */
  constructor(rows: readonly Row[], clientOf: (row: Row) => string, columns: Record<Name, Column<Row>>) {
    this.#columns = Object.entries(columns);
    const clients = rows.map(clientOf);
    const ofOne = clients.every((client) => client === clients[0]);
    this.#form = rows.length === 1 ? 'one' : ofOne ? 'of-client' : 'of-clients';
    this.client = ofOne ? '$1' : 'u.client_id';
    const lists = this.#columns.map(([, { of }]) => rows.map(of));
    this.values = [ofOne ? clients[0] : clients, ...(rows.length === 1 ? lists.map(([value]) => value) : lists)];
  }

  /** SQL that a row of another relation belongs to one of the clients. @param alias of the relation */
  belongs(alias: string): string {
    return this.#form === 'of-clients' ? `${alias}.client_id = any($1::text[])` : `${alias}.client_id = $1`;
  }

  /** SQL of a column's value. */
  at(name: Name): string {
    if (this.#form !== 'one') return `u.${name}`;
    const index = this.#columns.findIndex(([each]) => each === name);
    return `$${index + 2}::${this.#columns[index]?.[1].type}`;
  }

  /** The further relation that a statement needs for a list. @param word before it: `from`, `using`, or a comma */
  after(word: string): string {
    if (this.#form === 'one') return '';
    const several = this.#form === 'of-clients';
    const lists = this.#columns.map(([, { type }], index) => `$${index + 2}::${type}[]`);
    const names = this.#columns.map(([name]) => name);
    const [all, known] = several
      ? [
          ['$1::text[]', ...lists],
          ['client_id', ...names],
        ]
      : [lists, names];
    return `${word} unnest(${all.join(', ')}) as u(${known.join(', ')})`;
  }

  /** The name of a prepared statement, whose text depends on the form of the list. */
  named(name: string): string {
    return `${name}-${this.#form}`;
  }
}
