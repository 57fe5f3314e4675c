import type { Key, ReactNode } from 'react';
import './table.css';

export interface Column<Row> {
  /** The field that it sorts by, and its key. */
  key: string;
  title: string;
  cell: (row: Row) => ReactNode;
  /** Numbers stand at the right. */
  numeric?: boolean;
  sortable?: boolean;
}

export interface Sort {
  key: string;
  descending: boolean;
}

interface TableProps<Row> {
  /** Its accessible name. */
  name: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => Key;
  sort?: Sort | undefined;
  onSort?: (sort: Sort) => void;
  /** A style of its own for the rows, where they are cards. */
  className?: string;
}

/** A table; below 48 rem each row is a card whose lines carry the columns' names. The roles keep it a table there. */
export function Table<Row>({ name, columns, rows, rowKey, sort, onSort, className = '' }: TableProps<Row>): ReactNode {
  return (
    <div className="table-frame">
      <table className={`table ${className}`} role="table" aria-label={name}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <HeadCell key={column.key} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr role="row" key={rowKey(row)}>
              {columns.map(({ key, title, cell, numeric }) => (
                <td role="cell" key={key} className={numeric ? 'numeric' : undefined} data-key={key} data-title={title}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function HeadCell<Row>({
  column,
  sort,
  onSort,
}: { column: Column<Row> } & Pick<TableProps<Row>, 'sort' | 'onSort'>): ReactNode {
  const { key, title, numeric, sortable } = column;
  const sorted = sort?.key === key ? sort : undefined;
  const direction = sorted?.descending ? 'descending' : 'ascending';
  return (
    <th
      role="columnheader"
      scope="col"
      className={numeric ? 'numeric' : undefined}
      aria-sort={sorted ? direction : undefined}
    >
      {sortable && onSort ? (
        <button
          type="button"
          className="sort"
          onClick={() => onSort({ key, descending: sorted ? !sorted.descending : false })}
        >
          {title}
          <span aria-hidden="true">{sorted ? (sorted.descending ? '\u00a0↓' : '\u00a0↑') : '\u00a0↕'}</span>
        </button>
      ) : (
        title
      )}
    </th>
  );
}
