/** A column that a statement uses to find rows, or writes. */
interface Column<Row> {
  /** The type, in PostgreSQL's words. */
  type: string;
  of: (row: Row) => unknown;
}

/**
 * The rows that a statement works on, for statements that serve one row as well as many. A single row is passed as plain parameters, so
 * that its plan does not depend on the size of lists. If all rows belong to one client, the client is a separate parameter. All names are
 * the program's own.
 */
export class RowList<Row, Name extends string> {
  /** The parameters of the statement, from `$1` on. */
  readonly values: unknown[];
  /** An SQL expression for the client that owns the row. */
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

  /** SQL that checks that a row of another relation belongs to one of the clients. @param alias of the relation */
  belongs(alias: string): string {
    return this.#form === 'of-clients' ? `${alias}.client_id = any($1::text[])` : `${alias}.client_id = $1`;
  }

  /** An SQL expression for a column's value. */
  at(name: Name): string {
    if (this.#form !== 'one') return `u.${name}`;
    const index = this.#columns.findIndex(([each]) => each === name);
    return `$${index + 2}::${this.#columns[index]?.[1].type}`;
  }

  /** The additional relation that a statement needs for a list; empty for a single row. @param word before it: `from`, `using`, or a comma */
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

  /** Like `after`, for a list that stands first in its `from`. @param word between it and the next relation, such as `cross join` */
  before(word: string): string {
    return this.#form === 'one' ? '' : `${this.after('')} ${word}`;
  }

  /** The name of a prepared statement. It includes the form of the list, on which the text depends. */
  named(name: string): string {
    return `${name}-${this.#form}`;
  }
}
