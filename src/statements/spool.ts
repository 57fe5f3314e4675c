import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';

/** Bytes that are read at a time. */
const CHUNK = 65_536;

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
      else await write(content, handle);
      return new Spool(handle, (await handle.stat()).size);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** A stream over the whole content. It reads through the handle, so that one which is still open at the end meets a closed file and not another one. */
  stream(): Readable {
    return Readable.from(this.#chunks(), { objectMode: false });
  }

  /** The whole content at once. */
  async bytes(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.#chunks()) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  async *#chunks(): AsyncGenerator<Buffer> {
    for (let position = 0; position < this.size; ) {
      const { bytesRead, buffer } = await this.#handle.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, position);
      if (bytesRead === 0) throw new Error('a spooled file is shorter than it was');
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** Writers of lines give a few hundred bytes at a time; they are gathered, or each would cost a call of its own. */
async function write(content: Readable, handle: FileHandle): Promise<void> {
  let gathered: Buffer[] = [];
  let size = 0;
  const flush = async () => {
    await handle.writeFile(Buffer.concat(gathered));
    gathered = [];
    size = 0;
  };
  for await (const chunk of content) {
    const bytes = Buffer.from(chunk);
    gathered.push(bytes);
    size += bytes.length;
    if (size >= CHUNK) await flush();
  }
  await flush();
}
