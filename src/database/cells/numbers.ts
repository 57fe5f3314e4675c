/**
 * The numbers that a cell makes begin here, times its own number, so that they are unique over all cells and show the cell that made
 * them. Numbers of the API stay below 2^53, which leaves room for 9,007 cells.
 */
export const NUMBERS_OF_CELL = 10 ** 12;

/** The cell that made a number. */
export function cellOfNumber(number: number): number {
  return Math.floor(number / NUMBERS_OF_CELL);
}
