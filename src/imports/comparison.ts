import Big from 'big.js';
import type { Vault } from '../values/crypto.ts';

/** How the stored records of a kind are compared with lines that name them. */
export interface Comparison {
  table: string;
  /** The column of the identifier. */
  id: string;
  /** What is stored for each field of a line: a column, or an expression, of the table `t`. */
  fields: Record<string, string>;
  /** A given or a stored value in the form in which equal ones are the same; without one, values are compared as they are. */
  forms?: Record<string, (value: unknown, vault: Vault) => unknown>;
  /** Fields for which null means that the service chooses. */
  chosen?: string[];
  /** Whether a value that cannot be compared by its form is the stored one, as a password. */
  matches?: Record<string, (given: unknown, stored: unknown) => Promise<boolean>>;
}

/** Fields whose columns, of the table `t`, have their names. */
export function sameNames(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, `t.${name}`]));
}

/** A form of decimals: 1.170 is 1.17. */
export function asDecimal(value: unknown): string {
  return new Big(value as string).toFixed();
}
