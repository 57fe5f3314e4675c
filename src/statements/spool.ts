import { randomUUID } from 'node:crypto';
import type { ReadStream } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * A file without a name: whole before anything of it is sent, whatever its length, and gone with the process however that ends.
 */
export class Spool {
  readonly #handle: FileHandle;
  /** Bytes. */
  readonly size: number;

  private constructor(handle: FileHandle, size: number) {
    this.#handle = handle;
    this.size = size;
  }

  /**
   * Takes a content in.
   * @param folder where files may be made
   * @throws what the content throws; then there is no file
   */
  static async of(content: Buffer | Readable, folder: string): Promise<Spool> {
    const path = join(folder, `statement-${randomUUID()}`);
    const handle = await open(path, 'wx+', 0o600);
    try {
      await unlink(path);
      if (Buffer.isBuffer(content)) await handle.writeFile(content);
      else await pipeline(content, handle.createWriteStream({ autoClose: false }));
      return new Spool(handle, (await handle.stat()).size);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** A stream over the whole content. */
  stream(): ReadStream {
    return this.#handle.createReadStream({ start: 0, autoClose: false });
  }

  /** The whole content at once. */
  async bytes(): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(this.size);
    let read = 0;
    while (read < this.size) {
      const { bytesRead } = await this.#handle.read(bytes, read, this.size - read, read);
      if (bytesRead === 0) throw new Error('a spooled file is shorter than it was');
      read += bytesRead;
    }
    return bytes;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
