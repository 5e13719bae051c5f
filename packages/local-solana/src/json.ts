declare global {
  interface JSON {
    /** ECMAScript 2025; TypeScript's library does not have it yet. */
    rawJSON(text: string): object;
  }
}

/** Encodes JSON as a node does: u64 are plain numbers of any size, given as bigints. */
export const encode = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? JSON.rawJSON(String(member)) : member,
  );

/** Decodes JSON: an integer beyond double precision becomes a bigint. */
export function decode(text: string): unknown {
  const keepBig = (_key: string, value: unknown, context?: { source: string }): unknown =>
    typeof value === 'number' &&
    Number.isInteger(value) &&
    !Number.isSafeInteger(value) &&
    /^-?\d+$/.test(context?.source ?? '')
      ? BigInt(context?.source ?? 0)
      : value;
  return JSON.parse(text, keepBig);
}
