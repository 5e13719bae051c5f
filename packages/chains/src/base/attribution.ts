/**
 * ERC-8021: wallets and apps append an attribution to the calldata, `data ‖ schema id (1 byte) ‖ marker`, read from the
 * end. Contracts ignore it.
 */
const MARKER = Buffer.from('80218021802180218021802180218021', 'hex');

/** How long the schema's data is, read backwards from its end; null for a schema unknown here. */
function dataLength(schema: number, data: Buffer): number | null {
  const last = data.at(-1) ?? 0;
  switch (schema) {
    // codes ‖ their length
    case 0:
      return last + 1;
    // registry's address ‖ its chain id ‖ that one's length ‖ codes ‖ their length
    case 1: {
      const chainIdLength = data.at(-last - 2) ?? 0;
      return 20 + chainIdLength + 1 + last + 1;
    }
    // CBOR ‖ its length in two bytes
    case 2:
      return data.length < 2 ? null : data.readUInt16BE(data.length - 2) + 2;
    default:
      return null;
  }
}

/** True when the bytes are one attribution suffix, from the first to the last. */
export function isAttribution(bytes: Buffer): boolean {
  const schemaAt = bytes.length - MARKER.length - 1;
  if (schemaAt < 1 || !bytes.subarray(schemaAt + 1).equals(MARKER)) return false;
  const data = bytes.subarray(0, schemaAt);
  return dataLength(bytes[schemaAt] ?? -1, data) === data.length;
}
