import { type Key, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { type Column, Table } from './table.tsx';

/** A row of a list that others change at the same time. */
export interface SteadyRow<Row> {
  row: Row;
  /** It is no longer in the list; its place is kept for the time being. */
  isGone: boolean;
}

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
}

/**
 * A table whose rows stay where they are while somebody points at them, works in them by keyboard, or has selected something: what leaves
 * the list keeps its place, and what comes to it stands at the end.
 */
export function SteadyTable<Row>({ rows, rowKey, scope, isHeld = false, ...table }: SteadyTableProps<Row>): ReactNode {
  const [isPointed, setPointed] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const holds = isHeld || isPointed || isFocused;
  const steady = useSteadyRows(rows, { keyOf: rowKey, scope, isHeld: holds });
  const frame = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => (holds && frame.current ? keepWidths(frame.current) : undefined), [holds]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notices that somebody is about to click
    <div
      ref={frame}
      onPointerEnter={() => setPointed(true)}
      onPointerLeave={() => setPointed(false)}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
    >
      <Table {...table} rows={steady} rowKey={({ row }) => rowKey(row)} />
    </div>
  );
}

/** Keeps the columns as wide as they are: a long text in a new row would move what stands beside it. @returns lets them go */
function keepWidths(frame: HTMLElement): () => void {
  const table = frame.querySelector('table');
  const heads = [...frame.querySelectorAll('th')];
  const widths = heads.map((head) => head.getBoundingClientRect().width);
  heads.forEach((head, index) => {
    head.style.width = `${widths[index]}px`;
  });
  if (table) table.style.tableLayout = 'fixed';
  return () => {
    for (const head of heads) head.style.width = '';
    if (table) table.style.tableLayout = '';
  };
}

function useSteadyRows<Row>(
  rows: readonly Row[],
  { keyOf, scope, isHeld }: { keyOf: (row: Row) => Key; scope: Key; isHeld: boolean },
): SteadyRow<Row>[] {
  const shown = useRef<{ scope: Key; rows: SteadyRow<Row>[] }>({ scope, rows: [] });
  const fresh = rows.map((row) => ({ row, isGone: false }));
  if (!isHeld || shown.current.scope !== scope) {
    shown.current = { scope, rows: fresh };
    return fresh;
  }
  const present = new Map(rows.map((row) => [keyOf(row), row]));
  const kept = shown.current.rows.map(({ row }): SteadyRow<Row> => {
    const now = present.get(keyOf(row));
    return { row: now ?? row, isGone: now === undefined };
  });
  const known = new Set(kept.map(({ row }) => keyOf(row)));
  shown.current = { scope, rows: [...kept, ...fresh.filter(({ row }) => !known.has(keyOf(row)))] };
  return shown.current.rows;
}
