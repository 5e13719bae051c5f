import { promisify } from 'node:util';
import { brotliDecompress, gunzip, type InputType, zstdDecompress } from 'node:zlib';

/** Blocks full of our tokens' logs have some MB; a larger response cannot be what we asked for. */
export const RESPONSE_MAX_BYTES = 64 * 2 ** 20;

type Decoder = (body: InputType, options: { readonly maxOutputLength: number }) => Promise<Uint8Array>;
const decoders: Readonly<Record<string, Decoder>> = {
  gzip: promisify(gunzip),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
};
/** For the header accept-encoding. */
export const ENCODINGS = Object.keys(decoders).join(', ');

/** A Buffer of the same memory: one made of an array copies it byte by byte. */
const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('utf8');

/**
 * The text of a response.
 * @param encoding its header content-encoding
 * @throws Error where it is longer than so many bytes, cut, or of another encoding
 */
export async function decoded(
  body: Uint8Array,
  encoding: unknown,
  maxOutputLength = RESPONSE_MAX_BYTES,
): Promise<string> {
  if (encoding === undefined || encoding === 'identity') return textOf(body);
  const decode = typeof encoding === 'string' ? decoders[encoding.toLowerCase()] : undefined;
  if (decode === undefined) throw new Error(`its content-encoding is ${JSON.stringify(encoding)}, not ${ENCODINGS}`);
  return textOf(await decode(body, { maxOutputLength }));
}
