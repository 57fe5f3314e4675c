import type { ReactNode } from 'react';
import { Table } from './table.tsx';

/** The figures of a chart, for people who cannot see it. Cells are texts, and the first column names the row. */
export function ChartTable({ name, columns, rows }: { name: string; columns: string[]; rows: string[][] }): ReactNode {
  if (rows.length === 0) return null;
  return (
    <details>
      <summary className="small">{name}</summary>
      <Table
        name={name}
        columns={columns.map((title, index) => ({
          key: title,
          title,
          numeric: index > 0,
          cell: (row: string[]) => row[index],
        }))}
        rows={rows}
        rowKey={([label = '']) => label}
      />
    </details>
  );
}
