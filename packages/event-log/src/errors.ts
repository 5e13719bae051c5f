/** The errors of a chain of causes, outermost first: the client library wraps the broker's response several times. */
function* causes(error: unknown): Generator<Error> {
  for (let current = error; current instanceof Error; current = current.cause) yield current;
}

/** The protocol's name of an error, e.g. `CONCURRENT_TRANSACTIONS`; null where the error is not from a broker. */
export function brokerErrorType(error: unknown): string | null {
  for (const cause of causes(error)) if ('type' in cause && typeof cause.type === 'string') return cause.type;
  return null;
}

/** True where the broker refuses permanently: it would refuse the same request again. */
export function isRefusal(error: unknown): boolean {
  for (const cause of causes(error))
    if ('type' in cause && typeof cause.type === 'string' && 'retriable' in cause) return cause.retriable === false;
  return false;
}

/** Anything thrown, as an Error. */
export const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
