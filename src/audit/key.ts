import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { withinCell } from '../database/cells/connection.ts';
import { type Db, first } from '../database/database.ts';
import type { Vault } from '../values/crypto.ts';

const KEY_BYTES = 32;
const HASH_BYTES = 32;
const PURPOSE = 'audit_chain';

/** The key of the chain, with what belongs to it. */
export interface ChainKey {
  /** An object rather than bytes, because an HMAC then takes a fifth of the time. */
  secret: KeyObject;
  /** The number of rows that were sealed before there was a key. Their links are plain hashes. */
  unkeyed: number;
  /** The hash of the last of these rows. It keeps anybody from recreating them. */
  anchor: Buffer;
}

/** The key cannot be used. Nothing is sealed until it can be. */
export class ChainKeyFault extends Error {
  override readonly name = 'ChainKeyFault';
  readonly what: 'key_missing' | 'key_replaced';

  constructor(what: ChainKeyFault['what'], message: string) {
    super(message);
    this.what = what;
  }
}

interface KeyRow {
  unkeyed: number;
  sealed: Buffer | null;
  position: number | null;
  hash: Buffer | null;
  headed: boolean;
}

/**
 * The key of the chain.
 * @returns undefined if the service has not made it yet
 * @throws ChainKeyFault if the key was removed or replaced, or the master key that sealed it is missing
 */
export async function readChainKey(db: Db, vault: Vault): Promise<ChainKey | undefined> {
  const { sealed } = await keyRow(db);
  return sealed ? opened(sealed, vault) : undefined;
}

/**
 * Like `readChainKey`, but the first call makes the key.
 * @param tx holds the lock of the sealer
 */
export async function chainKey(tx: Db, vault: Vault): Promise<ChainKey> {
  const row = await keyRow(tx);
  if (row.sealed) return opened(row.sealed, vault);
  const secret = randomBytes(KEY_BYTES);
  const { unkeyed } = row;
  const anchor = row.hash ?? Buffer.alloc(HASH_BYTES);
  const text = JSON.stringify({ key: secret.toString('base64'), unkeyed, anchor: anchor.toString('hex') });
  await tx.query('update audit_key set sealed = $1 where sealed is null', [vault.seal(text, PURPOSE)]);
  return { secret: createSecretKey(secret), unkeyed, anchor };
}

/**
 * The row of the key, with the end of the chain; if there are several cells, the end of its part in the first one. `exists` selects 1,
 * because Citus copies no rows without a column.
 * @throws ChainKeyFault
 */
async function keyRow(db: Db): Promise<KeyRow> {
  const row = first(
    await withinCell(db, 0, () =>
      db.query<KeyRow>(
        `select k.unkeyed, k.sealed, c.position, c.hash, exists (select 1 from audit_heads) or exists (select 1 from audit_end) as headed
         from audit_key k left join lateral (select position, hash from audit_chain order by position desc limit 1) c on true`,
      ),
    ),
  );
  if (!row) throw new ChainKeyFault('key_missing', 'the row of audit_key with the key of the chain was removed');
  // Only a chain without a keyed row may lack a key.
  if (!row.sealed && (row.headed || (row.position ?? 0) !== row.unkeyed))
    throw new ChainKeyFault('key_missing', 'the key of the chain was removed from audit_key');
  return row;
}

/** @throws ChainKeyFault */
function opened(sealed: Buffer, vault: Vault): ChainKey {
  let text: string;
  try {
    text = vault.open(sealed, PURPOSE);
  } catch (error) {
    throw new ChainKeyFault(
      'key_replaced',
      `the key of the chain does not open: it was replaced in audit_key, or its master key is missing (${(error as Error).message})`,
    );
  }
  const { key, unkeyed, anchor } = JSON.parse(text) as { key: string; unkeyed: number; anchor: string };
  return { secret: createSecretKey(key, 'base64'), unkeyed, anchor: Buffer.from(anchor, 'hex') };
}
