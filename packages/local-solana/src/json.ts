declare global {
  interface JSON {
    /** ECMAScript 2025; not in TypeScript's library yet. */
    rawJSON(text: string): object;
  }
}

/** JSON as a node writes it: u64 are plain numbers of any size. Takes bigints for them. */
export const encode = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? JSON.rawJSON(String(member)) : member,
  );

/** The reverse: an integer that a double cannot hold becomes a bigint, all else is as JSON.parse has it. */
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
