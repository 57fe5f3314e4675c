import type { Pool } from '../database/database.ts';
import { SharedReads } from '../database/shared-reads.ts';
import { sha256 } from '../values/crypto.ts';
import type { ConfiguredToken } from './configured-token.ts';
import { OPERATOR_TOKEN, type OperatorToken, requireValid } from './token.ts';

type StoredToken = OperatorToken & { revoked_at: Date | null };

/** Finds the tokens that callers give. Callers that give the same one at once share a query. */
export class GivenTokens {
  readonly #pool: Pool;
  readonly #configured: ConfiguredToken | undefined;
  readonly #reads = new SharedReads<StoredToken | undefined>();

  /** @param configured the token with which this process was started; it is found by its id, because its value may have been replaced */
  constructor(pool: Pool, configured: ConfiguredToken | undefined) {
    this.#pool = pool;
    this.#configured = configured;
  }

  /**
   * The valid token with a text.
   * @throws Problem authentication_failed, token_expired
   */
  async find(text: string, now: Date): Promise<OperatorToken> {
    const hash = sha256(text);
    return requireValid(await this.#reads.read(hash.toString('base64'), () => this.#read(hash)), now);
  }

  async #read(hash: Buffer): Promise<StoredToken | undefined> {
    const { rows } = await this.#pool.query<StoredToken>({
      name: 'operator-token',
      text: `select ${OPERATOR_TOKEN.select}, revoked_at from operator_tokens
        where token_sha256 = $1 or id = $2 order by id = $2 desc nulls last limit 1`,
      values: [hash, this.#configured?.sha256.equals(hash) ? this.#configured.id : null],
    });
    return rows[0];
  }
}
