import { type Key, type ReactNode, useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react';
import { type SteadyRow, useSteadyRows } from './steady-rows.ts';
import { type Column, Table } from './table.tsx';

interface SteadyTableProps<Row> {
  name: string;
  columns: Column<SteadyRow<Row>>[];
  rows: readonly Row[];
  rowKey: (row: Row) => Key;
  /** Identifies the set of rows, such as a page number. Rows of another set replace them at once. */
  scope: Key;
  className?: string;
  /** True if something is selected. */
  isHeld?: boolean;
  /** Called when the last row has gone: another page may still have rows. */
  onEmpty?: () => void;
}

/** A table whose rows others change at the same time: nothing moves under the pointer. */
export function SteadyTable<Row>(props: SteadyTableProps<Row>): ReactNode {
  const { rows, rowKey, scope, isHeld = false, onEmpty, ...table } = props;
  const steady = useSteadyRows(rows, { keyOf: rowKey, scope, isHeld });
  const isEmpty = steady.rows.length === 0;
  const tellEmpty = useEffectEvent(() => onEmpty?.());
  useEffect(() => {
    if (isEmpty) tellEmpty();
  }, [isEmpty]);
  const frame = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => (steady.isHeld && frame.current ? keepWidths(frame.current) : undefined), [steady.isHeld]);
  return (
    <div ref={frame} {...steady.holders}>
      <Table {...table} rows={steady.rows} rowKey={({ row }) => rowKey(row)} />
    </div>
  );
}

/**
 * Keeps the column widths: a long text in a new row would move the other columns. If the window changes its size, for example when a phone
 * is turned, the widths are released.
 * @returns a function that releases them
 */
function keepWidths(frame: HTMLElement): () => void {
  const table = frame.querySelector('table');
  const heads = [...frame.querySelectorAll('th')];
  const widths = heads.map((head) => head.getBoundingClientRect().width);
  heads.forEach((head, index) => {
    head.style.width = `${widths[index]}px`;
  });
  if (table) table.style.tableLayout = 'fixed';
  const letGo = () => {
    removeEventListener('resize', letGo);
    for (const head of heads) head.style.width = '';
    if (table) table.style.tableLayout = '';
  };
  addEventListener('resize', letGo);
  return letGo;
}
