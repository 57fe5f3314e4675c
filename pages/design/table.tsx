import type { Key, ReactNode } from 'react';
import './table.css';
import './table-cards.css';

export interface Column<Row> {
  /** The sort field, and the React key. */
  key: string;
  title: string;
  cell: (row: Row) => ReactNode;
  /** Aligns numbers at the right. */
  numeric?: boolean;
  sortable?: boolean;
}

export interface Sort {
  key: string;
  descending: boolean;
}

interface TableProps<Row> {
  /** The accessible name. */
  name: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => Key;
  sort?: Sort | undefined;
  onSort?: (sort: Sort) => void;
  /** An extra CSS class, for rows that are shown as cards. */
  className?: string;
  /** The key of the row that is open elsewhere. */
  current?: Key | undefined;
  /** Called when a row is pressed outside its links and controls. */
  onOpen?: ((row: Row) => void) | undefined;
}

/** A table. Below 48 rem each row is a card, whose lines show the column names; its ARIA roles keep it a table. */
export function Table<Row>(props: TableProps<Row>): ReactNode {
  const { name, columns, rows, rowKey, sort, onSort, className = '', current, onOpen } = props;
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
            <tr
              role="row"
              key={rowKey(row)}
              aria-current={current !== undefined && rowKey(row) === current ? 'true' : undefined}
              data-opens={onOpen ? '' : undefined}
              onClick={onOpen && (({ target }) => isBeside(target) && onOpen(row))}
            >
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

/** True outside links and controls, and if no text is selected. */
function isBeside(target: EventTarget): boolean {
  return !(target as Element).closest('a, button, input, label, summary') && getSelection()?.isCollapsed !== false;
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
      data-key={key}
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
