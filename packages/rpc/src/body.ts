import { pipeline, type Readable, type Transform } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
import { type JsonBounds, JsonPieces, type ReadElement } from './json-pieces.ts';

/** A response of which all is kept. What is larger are lists, which are read element by element. */
export const RESPONSE_MAX_BYTES = 8 * 2 ** 20;
/** A list, of which nothing may be lost. A block full of transfers of our tokens has some 30 MB. */
export const LIST_MAX_BYTES = 64 * 2 ** 20;

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(),
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress(),
};
/** For the header accept-encoding. */
export const ENCODINGS = Object.keys(decoders).join(', ');

/** So many bytes are decoded and parsed in one turn of the event loop, which takes some milliseconds. */
const TURN_BYTES = 128 * 2 ** 10;
/** Of one of a stream's chunks. */
const PART_BYTES = 64 * 2 ** 10;

/** That a body arrived, and cannot be decoded. */
export class UndecodableError extends Error {
  override readonly name = 'UndecodableError';
}

/** How a body is read. */
export interface BodyReading extends JsonBounds {
  /** The header content-encoding. */
  readonly encoding: unknown;
  /** What is kept of each element of a list that is a result. Default: all */
  readonly readElement: ReadElement | null;
  /** Is told how long, in ms, this process has worked on a part of it, instead of having waited for more. */
  readonly onWorked: (ms: number) => void;
}

/**
 * The JSON of a response, decoded and parsed as it arrives, with the event loop given free between its parts. Undefined
 * where it is no JSON.
 * @throws UndecodableError where it is cut, or of another encoding; and whatever the body does, or an error of the code
 *   of a decoder whose output is too long
 */
export async function readBody(body: Readable, reading: BodyReading): Promise<unknown> {
  const pieces = new JsonPieces(reading, reading.readElement);
  // One that is broken off here fails when nothing waits for it any more.
  body.on('error', () => undefined);
  let turnBytes = 0;
  try {
    for await (const chunk of decodedFrom(body, reading.encoding))
      for (let from = 0; from < chunk.length; from += PART_BYTES) {
        const part = chunk.subarray(from, from + PART_BYTES);
        const begun = performance.now();
        pieces.add(part);
        turnBytes += part.length;
        if (turnBytes >= TURN_BYTES) {
          turnBytes = 0;
          await setImmediate();
        }
        reading.onWorked(performance.now() - begun);
      }
    return pieces.end();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function* decodedFrom(body: Readable, encoding: unknown): AsyncGenerator<Uint8Array> {
  if (encoding === undefined || encoding === 'identity') {
    yield* body as AsyncIterable<Uint8Array>;
    return;
  }
  const decoder = typeof encoding === 'string' ? decoders[encoding.toLowerCase()]?.() : undefined;
  if (decoder === undefined) {
    body.destroy();
    throw new UndecodableError(`its content-encoding is ${JSON.stringify(encoding)}, not ${ENCODINGS}`);
  }
  // Either may end the other: the iteration throws what it was.
  pipeline(body, decoder, () => undefined);
  try {
    yield* decoder as AsyncIterable<Uint8Array>;
  } catch (cause) {
    if (body.errored !== null) throw cause;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'it cannot be decoded';
    throw new UndecodableError(code, { cause });
  }
}
