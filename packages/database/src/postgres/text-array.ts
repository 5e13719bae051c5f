/** The type text: its id is the same in every Postgres. */
const TEXT_OID = 25;
const FIELD_BYTES = 4;
const NULL_LENGTH = -1;

/**
 * The value of a parameter `text[]`, in the binary format, in which node-postgres sends a Buffer. In the text format
 * each quote and backslash is escaped here and unescaped there, and JSON has many. What array_recv reads: the number of
 * dimensions, whether there are nulls, the type; length and lower bound of the dimension; then each element's length
 * and bytes.
 */
export function textArray(values: readonly (string | null)[]): Buffer {
  if (values.length === 0) return fields(0, 0, TEXT_OID);
  const head = fields(1, values.includes(null) ? 1 : 0, TEXT_OID, values.length, 1);
  const lengths = values.map((value) => (value === null ? NULL_LENGTH : Buffer.byteLength(value)));
  const size = lengths.reduce((sum, length) => sum + FIELD_BYTES + Math.max(length, 0), head.length);
  const buffer = Buffer.allocUnsafe(size);
  head.copy(buffer);
  let at = head.length;
  values.forEach((value, index) => {
    at = buffer.writeInt32BE(lengths[index] ?? NULL_LENGTH, at);
    if (value !== null) at += buffer.write(value, at);
  });
  return buffer;
}

function fields(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(values.length * FIELD_BYTES);
  values.forEach((value, index) => buffer.writeInt32BE(value, index * FIELD_BYTES));
  return buffer;
}
