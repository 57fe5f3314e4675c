import { SEALED_NAME } from '../values/crypto.ts';

/** A column with texts that a master key has sealed. */
export interface SealedColumn {
  table: string;
  column: string;
  /** The column that identifies a row. */
  key: string;
  /** The purpose for which its texts are sealed (Vault). */
  purpose: string;
  /** Set if the column is a list of texts. */
  list?: true;
  /** An indexed column by which the oldest and the newest rows are found, because the table is too large to be read at a start. */
  age?: string;
}

/** Everything that the service seals. A test compares it with the columns of the database. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'audit_key', column: 'sealed', key: '"only"', purpose: 'audit_chain' },
  { table: 'application_secrets', column: 'secret', key: 'id', purpose: 'application_secrets' },
  { table: 'clients', column: 'statement_push_secret', key: 'client_id', purpose: 'statement_push_secret' },
  { table: 'contacts', column: 'totp_secret', key: 'contact_id', purpose: 'totp_secret' },
  { table: 'subscriptions', column: 'secret', key: 'id', purpose: 'webhook_secret' },
  { table: 'subscriptions', column: 'former_secrets', key: 'id', purpose: 'webhook_secret', list: true },
  { table: 'erasures', column: 'sealed', key: 'erasure_id', purpose: 'erasure' },
  { table: 'idempotency_keys', column: 'body', key: 'key', purpose: 'idempotency_answer', age: 'created_at' },
];

/** SQL for the name of the key that sealed a text; null for a text from before keys had names. */
export function nameOfKey(text: string): string {
  const { mark, markBytes, nameBytes } = SEALED_NAME;
  return `case when substring(${text} from 1 for ${markBytes}) = '\\x${mark}'
    then encode(substring(${text} from ${markBytes + 1} for ${nameBytes}), 'hex') end`;
}

/** SQL for the sealed texts of a column, as `text`. @param from the table, or a query of some of its rows */
export function sealedTexts({ table, column, list }: SealedColumn, from = table): string {
  return list
    ? `select unnest(${column}) as text from ${from} t where cardinality(${column}) > 0`
    : `select ${column} as text from ${from} t where ${column} is not null`;
}
