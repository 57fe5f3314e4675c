import { type Key, type ReactNode, useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react';
import { type SteadyRow, useSteadyRows } from './steady-rows.ts';
import { type Column, Table } from './table.tsx';

interface SteadyTableProps<Row> {
  name: string;
  columns: Column<SteadyRow<Row>>[];
  rows: readonly Row[];
  rowKey: (row: Row) => Key;
  /** Which rows these are, as a page's number: other ones replace them at once. */
  scope: Key;
  className?: string;
  /** Something is selected. */
  isHeld?: boolean;
  /** Its last row has gone: another page may have rows. */
  onEmpty?: () => void;
}

/** A table of rows that others change at the same time: nothing moves under the pointer. */
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
 * Keeps the columns as wide as they are: a long text in a new row would move what stands beside it. In a window of another size, as of a
 * phone that is turned, they are let go.
 * @returns lets them go
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
