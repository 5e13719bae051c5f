/**
 * Decodes the same bytes once: whoever is handed them on gets what was decoded before. By the object, not its content,
 * so nothing is kept longer than the bytes are; they must not be changed.
 */
export function decodedOnce<T>(decode: (raw: Uint8Array) => T): (raw: Uint8Array) => T {
  const made = new WeakMap<Uint8Array, { readonly value: T }>();
  return (raw) => {
    const known = made.get(raw);
    if (known) return known.value;
    const value = decode(raw);
    made.set(raw, { value });
    return value;
  };
}
