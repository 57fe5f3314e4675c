import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 random bits. */
const TOKEN_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** A random text of 256 bits in base64url, for access tokens, codes and client secrets. */
export function randomToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** SHA-256. Tokens are stored and looked up as their hash. */
export function sha256(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Compares two secrets in constant time: the time does not depend on where they differ. */
export function equalSecrets(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

/** A sealed text that names its key begins with this mark and the name. Older texts begin directly with their random bytes. */
const NAMED = Buffer.from('LMK1');
const NAME_BYTES = 6;
/** Where the key's name is in a sealed text. SQL counts from 1. */
export const SEALED_NAME = { mark: NAMED.toString('hex'), markBytes: NAMED.length, nameBytes: NAME_BYTES };

interface MasterKey {
  /** A hash of the key in hexadecimal. It reveals nothing about the key. */
  name: string;
  key: Buffer;
}

/** Encrypts secrets at rest with AES-256-GCM under the master keys (LOMBARD_MASTER_KEY). The first key seals; every key can open. */
export class Vault {
  readonly #keys: MasterKey[];
  readonly #sealing: MasterKey;

  /** @param keys of 32 bytes each */
  constructor(...keys: Buffer[]) {
    for (const key of keys)
      if (key.length !== KEY_BYTES) throw new RangeError(`a master key must have ${KEY_BYTES} bytes`);
    this.#keys = keys.map((key) => ({ name: nameOf(key), key }));
    const [first] = this.#keys;
    if (!first) throw new RangeError('a vault needs a master key');
    this.#sealing = first;
  }

  /** The names of the keys. The first one is the key that seals. */
  get names(): string[] {
    return this.#keys.map(({ name }) => name);
  }

  /** @param purpose what the secret is for, such as `client_secret`. A ciphertext that is moved to another column does not open. */
  seal(secret: string, purpose: string): Buffer {
    const { name, key } = this.#sealing;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(purpose));
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return Buffer.concat([NAMED, Buffer.from(name, 'hex'), iv, cipher.getAuthTag(), text]);
  }

  /** @throws Error if the ciphertext was changed, the purpose differs, or the key that sealed it is not one of these */
  open(sealed: Buffer, purpose: string): string {
    const start = NAMED.length + NAME_BYTES;
    const name = sealed.subarray(0, NAMED.length).equals(NAMED)
      ? sealed.toString('hex', NAMED.length, start)
      : undefined;
    const named = this.#keys.find((key) => key.name === name);
    if (named) return opened(named.key, sealed.subarray(start), purpose);
    // A text from before keys had names. One in 2^32 of them looks as if it had one.
    for (const { key } of this.#keys) {
      try {
        return opened(key, sealed, purpose);
      } catch {
        // Try the next key.
      }
    }
    throw new Error(name ? `the master key ${name} is not in LOMBARD_MASTER_KEY` : 'no master key opens it');
  }
}

function nameOf(key: Buffer): string {
  return createHmac('sha256', key)
    .update('name of a master key')
    .digest('hex')
    .slice(0, 2 * NAME_BYTES);
}

function opened(key: Buffer, sealed: Buffer, purpose: string): string {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES)).setAAD(Buffer.from(purpose));
  decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
}
