/** A document as it was parsed from JSON. */
type Document = Readonly<Record<string, unknown>>;
/** Turns a document of one schema version into the next. */
type Upcaster = (document: Document) => Document;

/**
 * A format whose documents outlive the code that wrote them (docs/internals/evolution.md). A document carries its
 * version in `schemaVersion`; without one it is of version 1.
 */
export interface Format {
  /** Article and noun: `an event`. */
  readonly name: string;
  /** From version 1 to 2, from 2 to 3 and so on: one more than there are is the version that this code writes. */
  readonly upcasters: readonly Upcaster[];
}

export const FORMATS = {
  // Of version 2 is what has `sealed`: older code would take what it does not see for absent. Of version 3 is the
  // creation of an intent with `accept`: older code would judge its payments by another rule. All other events are
  // still written as version 1.
  event: { name: 'an event', upcasters: [(event) => event, (event) => event] },
  // Likewise.
  command: { name: 'a command', upcasters: [(command) => command, (command) => command] },
  observation: { name: 'an observation', upcasters: [] },
  // Of version 2 is an intent with `accept`.
  intentState: { name: 'a stored intent', upcasters: [(intent) => intent] },
  depositEvent: { name: 'an event of a deposit', upcasters: [] },
  depositState: { name: 'a stored deposit', upcasters: [] },
  outcome: { name: 'an outcome', upcasters: [] },
} satisfies Readonly<Record<string, Format>>;

/** The version that this code writes, and the newest that it understands. */
export const versionOf = ({ upcasters }: Format): number => upcasters.length + 1;

/** Newer code wrote this document, and declared that older code must not guess what it means. */
export class NewerVersionError extends Error {
  override readonly name = 'NewerVersionError';
}

/**
 * Brings a document to the version that this code understands. What is no document is left to the schema.
 * @throws NewerVersionError
 */
export function upcast(format: Format, document: unknown): unknown {
  if (typeof document !== 'object' || document === null) return document;
  let current = document as Document;
  const version = current['schemaVersion'] ?? 1;
  // Anything else than a number is refused by the schema, or was never written.
  if (typeof version !== 'number') return document;
  if (version > versionOf(format))
    throw new NewerVersionError(
      `${format.name} of schema version ${version} was written by newer code: up to ${versionOf(format)} is understood`,
    );
  for (const next of format.upcasters.slice(version - 1)) current = next(current);
  return current;
}
