import { type Key, useRef, useState } from 'react';

/** A row of a list that others change at the same time. */
export interface SteadyRow<Row> {
  row: Row;
  /** It has left the list; its place is kept for now. */
  isGone: boolean;
}

interface SteadyOptions<Row> {
  keyOf: (row: Row) => Key;
  /** Identifies the set of rows, such as a page number. Rows of another set replace them at once. */
  scope: Key;
  /** True if something is selected. */
  isHeld?: boolean;
}

interface Steady<Row> {
  rows: SteadyRow<Row>[];
  isHeld: boolean;
  /** Handlers for the element around the rows: they notice that somebody may be about to click. */
  holders: Record<'onPointerEnter' | 'onPointerLeave' | 'onFocus' | 'onBlur', () => void>;
}

/**
 * Rows that keep still while somebody points at them, uses them by keyboard, or has selected something. A row that leaves the list keeps
 * its place, and new rows appear at the end.
 */
export function useSteadyRows<Row>(rows: readonly Row[], options: SteadyOptions<Row>): Steady<Row> {
  const [isPointed, setPointed] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const isHeld = options.isHeld || isPointed || isFocused;
  return {
    rows: useKeptRows(rows, { ...options, isHeld }),
    isHeld,
    holders: {
      onPointerEnter: () => setPointed(true),
      onPointerLeave: () => setPointed(false),
      onFocus: () => setFocused(true),
      onBlur: () => setFocused(false),
    },
  };
}

function useKeptRows<Row>(rows: readonly Row[], { keyOf, scope, isHeld }: SteadyOptions<Row>): SteadyRow<Row>[] {
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
