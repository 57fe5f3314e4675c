import { createGunzip } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { inTime } from '../../process/deadline.ts';
import type { Patience } from '../../process/patience.ts';
import { monotonic } from '../../values/calendar.ts';
import { Problem } from '../../values/errors.ts';

/** Content types that an import accepts. Without a content type, the body is read as NDJSON. */
const CONTENT_TYPES = new Set([
  '',
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
  'application/json',
  'application/octet-stream',
  'text/plain',
]);
/** The largest ratio of the unpacked to the packed size. NDJSON reaches at most 30, a decompression bomb 1,000. */
const MAX_RATIO = 100;
/** Bytes to which a compressed body may unpack before its ratio is checked. */
const MIN_RATIO_BYTES = 1_048_576;
/** The fewest bytes that a caller must send in the allowed time while the service is ready to read. */
const PACE_BYTES = 1_024;

/**
 * The body of an import as bytes, decompressed if it is gzipped. Nothing is read ahead of the reader.
 * @throws Problem unsupported_media_type; while reading: payload_too_large, invalid_body
 */
export function importBody(
  request: FastifyRequest,
  stream: NodeJS.ReadableStream,
  { paceMs }: Pick<Patience, 'paceMs'>,
): AsyncIterable<Buffer> {
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!CONTENT_TYPES.has(type)) {
    throw new Problem(
      'unsupported_media_type',
      `header.Content-Type: must be application/x-ndjson, not ${type.slice(0, 100)}`,
    );
  }
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const bytes = received(stream as AsyncIterable<Buffer>, paceMs);
  if (encoding === 'identity' || encoding === '') return bytes;
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw new Problem(
      'unsupported_media_type',
      `header.Content-Encoding: must be gzip or absent, not ${encoding.slice(0, 100)}`,
    );
  }
  return unpacked(bytes);
}

/** The refusal of a missing or empty body: the file was lost on the way. */
export function noBody(): Problem {
  return new Problem('invalid_body', 'body: is required: a JSON record a line');
}

/** The same bytes, once the first ones have arrived. @throws Problem invalid_body if there are none */
export async function begun(source: AsyncIterable<Buffer>): Promise<AsyncIterable<Buffer>> {
  const chunks = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done) throw noBody();
  return (async function* () {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => chunks };
  })();
}

async function* received(stream: AsyncIterable<Buffer>, paceMs: number): AsyncGenerator<Buffer> {
  const chunks = stream[Symbol.asyncIterator]();
  const slow = () =>
    new Problem('request_timeout', `body: fewer than ${PACE_BYTES} bytes arrived within ${paceMs / 1_000} seconds`);
  let bytes = 0;
  let waitedMs = 0;
  for (;;) {
    try {
      const asked = monotonic();
      const next = await inTime(chunks.next(), Math.max(0, paceMs - waitedMs), slow);
      if (next.done) return;
      bytes += next.value.length;
      // The time in which the import writes does not count against the caller.
      waitedMs += monotonic() - asked;
      if (bytes >= PACE_BYTES) bytes = waitedMs = 0;
      yield next.value;
    } catch (error) {
      if (error instanceof Problem) throw error;
      throw new Problem('invalid_body', 'body: ended before its Content-Length', { cause: error });
    }
  }
}

async function* unpacked(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  let read = 0;
  let failure: unknown;
  const feed = async () => {
    for await (const chunk of source) {
      read += chunk.length;
      if (!gunzip.write(chunk)) await new Promise((resolve) => gunzip.once('drain', resolve).once('close', resolve));
      if (gunzip.destroyed) return;
    }
    gunzip.end();
  };
  const feeding = feed().catch((error) => {
    failure = error;
    gunzip.destroy();
  });
  let written = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      written += chunk.length;
      if (written > MIN_RATIO_BYTES && written > read * MAX_RATIO) {
        throw new Problem('payload_too_large', `body: must not unpack to more than ${MAX_RATIO} times its size`);
      }
      yield chunk;
    }
  } catch (error) {
    if (failure ?? error instanceof Problem) throw failure ?? error;
    throw new Problem('invalid_body', 'body: is not valid gzip', { cause: error });
  } finally {
    gunzip.destroy();
    await feeding;
  }
}
