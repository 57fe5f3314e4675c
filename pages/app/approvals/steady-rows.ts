import { useRef } from 'react';

/** A row of a list that others change at the same time. */
export interface SteadyRow<Row> {
  row: Row;
  /** It is no longer in the list; its place is kept for the time being. */
  isGone: boolean;
}

/**
 * Rows that stay where they are while somebody points at them: what leaves the list keeps its place, and what comes to it stands at the end.
 * @param isHeld somebody points at the list, works in it by keyboard, or has selected something
 */
export function useSteadyRows<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  isHeld: boolean,
): SteadyRow<Row>[] {
  const shown = useRef<SteadyRow<Row>[]>([]);
  const present = new Map(rows.map((row) => [keyOf(row), row]));
  if (isHeld) {
    const kept = shown.current.map(({ row }): SteadyRow<Row> => {
      const now = present.get(keyOf(row));
      return { row: now ?? row, isGone: now === undefined };
    });
    const known = new Set(kept.map(({ row }) => keyOf(row)));
    const added = rows.filter((row) => !known.has(keyOf(row)));
    shown.current = [...kept, ...added.map((row) => ({ row, isGone: false }))];
  } else shown.current = rows.map((row) => ({ row, isGone: false }));
  return shown.current;
}
