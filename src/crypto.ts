import { createCipheriv, createDecipheriv, createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 random bits. */
const TOKEN_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/** A random text of 256 bits, base64url: access tokens, codes, client secrets. */
export function randomToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** SHA-256. Tokens are stored and looked up as their hash. */
export function sha256(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Compares two secrets in a time that does not depend on where they differ. */
export function equalSecrets(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

/** Encrypts secrets at rest: AES-256-GCM under the master key (LOMBARD_MASTER_KEY). */
export class Vault {
  readonly #key: Buffer;

  /** @param key 32 bytes */
  constructor(key: Buffer) {
    if (key.length !== KEY_BYTES) throw new RangeError(`the master key must have ${KEY_BYTES} bytes`);
    this.#key = key;
  }

  /** @param purpose what the secret is for, as `client_secret`: a ciphertext that is moved to another column does not open */
  seal(secret: string, purpose: string): Buffer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(Buffer.from(purpose));
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), text]);
  }

  /** @throws Error if the ciphertext, the key or the purpose differs */
  open(sealed: Buffer, purpose: string): string {
    const decipher = createDecipheriv('aes-256-gcm', this.#key, sealed.subarray(0, IV_BYTES)).setAAD(
      Buffer.from(purpose),
    );
    decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
  }
}
