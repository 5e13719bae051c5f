import { base58 } from '@scure/base';
import { SoundError } from './errors.ts';

/** What a sound says of an intent. A `PaymentIntent` is one. */
export interface Announced {
  readonly id: string;
  readonly livemode: boolean;
}

const PREFIX = 'pi_';
const ID_BYTES = 16;
/** One byte of type and mode, the 16 bytes of the id, one of checksum. */
export const PAYLOAD_BYTES = ID_BYTES + 2;
/** The upper half is the type, an intent's id in version 1; the lowest bit is the mode. Other types are ignored. */
const INTENT = { test: 0x10, live: 0x11 } as const;

/** @throws SoundError `invalid_id` */
export function payloadOf({ id, livemode }: Announced): Uint8Array {
  const bytes = idBytes(id);
  if (bytes === null) throw new SoundError('invalid_id', `"${id}" is not the id of an intent.`);
  const payload = new Uint8Array(PAYLOAD_BYTES);
  payload[0] = livemode ? INTENT.live : INTENT.test;
  payload.set(bytes, 1);
  payload[PAYLOAD_BYTES - 1] = crc8(payload.subarray(0, -1));
  return payload;
}

function idBytes(id: string): Uint8Array | null {
  // Base58 takes time that grows with the square of the length.
  if (!/^pi_[1-9A-HJ-NP-Za-km-z]{16,22}$/.test(id)) return null;
  const bytes = base58.decode(id.slice(PREFIX.length));
  return bytes.length === ID_BYTES ? bytes : null;
}

/** Null for what others say, and for what was not understood. */
export function parsePayload(payload: Uint8Array): Announced | null {
  const [type] = payload;
  if (payload.length !== PAYLOAD_BYTES || payload.at(-1) !== crc8(payload.subarray(0, -1))) return null;
  if (type !== INTENT.test && type !== INTENT.live) return null;
  return { id: `${PREFIX}${base58.encode(payload.slice(1, -1))}`, livemode: type === INTENT.live };
}

/** CRC-8/SMBUS: x⁸ + x² + x + 1, from the highest bit, beginning with 0. */
export function crc8(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x80 ? 0x07 : 0)) & 0xff;
  }
  return crc;
}
