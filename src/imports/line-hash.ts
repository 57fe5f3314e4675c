import { createHash, type Hash } from 'node:crypto';

const EMPTY = Buffer.alloc(0);
const NEWLINE = 0x0a;

/** The hashes at the end of a batch. */
export interface Cut {
  /** SHA-256 of everything up to here. */
  file: Buffer;
  /** SHA-256 of the lines since the last cut, as hexadecimal digits. */
  part: string;
}

/**
 * Hashes the bytes of a file while they are read, always with a newline at the end. It hashes whole chunks, and cuts them only where a
 * batch ends. Hashing each line separately costs three times as much.
 */
export class LineHash {
  readonly #file: Hash;
  #part: Hash = createHash('sha256');
  #chunk: Buffer = EMPTY;
  /** The number of bytes of the chunk that are hashed. */
  #hashed = 0;

  /** @param head what must also be the same, besides the lines */
  constructor(head: string) {
    this.#file = createHash('sha256').update(head);
  }

  /** Passes the bytes through. A reader may stop before the end, and another one may continue. */
  read(source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    const chunks = source[Symbol.asyncIterator]();
    let last = NEWLINE;
    const next = async () => {
      this.#update(this.#chunk.length);
      const result = await chunks.next();
      this.#hashed = 0;
      this.#chunk = result.done ? EMPTY : result.value;
      if (!result.done) last = result.value.at(-1) ?? last;
      else if (last !== NEWLINE) {
        this.#chunk = Buffer.from('\n');
        this.#update(1);
        last = NEWLINE;
      }
      return result;
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  /** @param end where a line of the current chunk ends, including its newline */
  cut(end: number): Cut {
    this.#update(end);
    const part = this.#part.digest('hex');
    this.#part = createHash('sha256');
    return { file: this.soFar(), part };
  }

  /** SHA-256 of everything up to the last cut, or to the end of the file once it has been read. */
  soFar(): Buffer {
    return this.#file.copy().digest();
  }

  #update(end: number): void {
    if (end <= this.#hashed) return;
    const bytes = this.#chunk.subarray(this.#hashed, end);
    this.#file.update(bytes);
    this.#part.update(bytes);
    this.#hashed = end;
  }
}
