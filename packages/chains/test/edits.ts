import fc from 'fast-check';

/** Bytes with one or two places changed, put in, left out or written over with what stands elsewhere in them. */
export function edited(from: Uint8Array): fc.Arbitrary<Buffer> {
  const where = fc.nat(from.length - 1);
  const byte = fc.nat(255);
  const one = fc.oneof(
    fc.tuple(where, byte).map(
      ([at, to]) =>
        (bytes: Uint8Array) =>
          Buffer.from(bytes.map((value, index) => (index === at ? to : value))),
    ),
    fc.tuple(where, byte).map(
      ([at, added]) =>
        (bytes: Uint8Array) =>
          Buffer.concat([bytes.subarray(0, at), Buffer.of(added), bytes.subarray(at)]),
    ),
    where.map((at) => (bytes: Uint8Array) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)])),
    fc.tuple(where, where, fc.nat(40)).map(
      ([at, to, length]) =>
        (bytes: Uint8Array) =>
          Buffer.concat([bytes.subarray(0, to), bytes.subarray(at, at + length), bytes.subarray(to + length)]),
    ),
  );
  return fc
    .array(one, { minLength: 1, maxLength: 2 })
    .map((edits) => edits.reduce<Buffer>((bytes, edit) => edit(bytes), Buffer.from(from)));
}

/** RLP of a number: its bytes without leading zeros. */
export function field(value: bigint): Buffer {
  if (value === 0n) return Buffer.of(0x80);
  const digits = value.toString(16);
  return item(Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex'));
}

/** RLP of bytes. */
export function item(bytes: Uint8Array): Buffer {
  const [first = 0x80] = bytes;
  return bytes.length === 1 && first < 0x80 ? Buffer.from(bytes) : Buffer.concat([head(0x80, bytes.length), bytes]);
}

/** RLP of a list, from the RLP of what is in it. */
export const list = (content: Uint8Array): Buffer => Buffer.concat([head(0xc0, content.length), content]);

function head(kind: number, length: number): Buffer {
  if (length < 56) return Buffer.of(kind + length);
  const bytes = length < 256 ? [length] : [length >> 8, length & 255];
  return Buffer.of(kind + 55 + bytes.length, ...bytes);
}

/** The RLP of what is in a list of some dozens to thousands of bytes. */
export const listContent = (bytes: Uint8Array): Uint8Array => bytes.subarray(1 + Math.max(0, (bytes[0] ?? 0) - 0xf7));
