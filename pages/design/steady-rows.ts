import { type Key, useRef, useState } from 'react';

/** A row of a list that others change at the same time. */
export interface SteadyRow<Row> {
  row: Row;
  /** It is no longer in the list; its place is kept for the time being. */
  isGone: boolean;
}

interface SteadyOptions<Row> {
  keyOf: (row: Row) => Key;
  /** Which rows these are, as a page's number: other ones replace them at once. */
  scope: Key;
  /** Something is selected. */
  isHeld?: boolean;
}

interface Steady<Row> {
  rows: SteadyRow<Row>[];
  isHeld: boolean;
  /** For the element around the rows: it notices that somebody is about to click. */
  holders: Record<'onPointerEnter' | 'onPointerLeave' | 'onFocus' | 'onBlur', () => void>;
}

/**
 * Rows that stay where they are while somebody points at them, works in them by keyboard, or has selected something: what leaves the list
 * keeps its place, and what comes to it stands at the end.
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
