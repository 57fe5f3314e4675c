import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';

/** The number of bytes that are read or written at once. */
const CHUNK_BYTES = 65_536;

/** An unnamed file. It is complete before any of it is sent, whatever its length, and disappears with the process, however that ends. */
export class Spool {
  readonly #handle: FileHandle;
  /** Bytes. */
  readonly size: number;

  private constructor(handle: FileHandle, size: number) {
    this.#handle = handle;
    this.size = size;
  }

  /**
   * Writes a content to a new spool.
   * @param folder where files may be created
   * @throws the error of the content; then there is no file
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

  /** A stream of the whole content. It reads through the handle. So after `close` it fails, and cannot read another file by mistake. */
  stream(): Readable {
    return Readable.from(this.#chunks(), { objectMode: false });
  }

  /** The whole content. */
  async bytes(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.#chunks()) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  async *#chunks(): AsyncGenerator<Buffer> {
    for (let position = 0; position < this.size; ) {
      const { bytesRead, buffer } = await this.#handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position);
      if (bytesRead === 0) throw new Error('a spooled file has become shorter');
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** Writes the content in larger chunks. Writers of lines give a few hundred bytes at a time, and each write is a system call. */
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
    if (size >= CHUNK_BYTES) await flush();
  }
  await flush();
}
