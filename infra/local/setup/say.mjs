// What the bootstrap tells a person. All of it goes to stderr: stdout belongs to the command that follows.

/** @param {string} text */
export const say = (text) => void process.stderr.write(`${text}\n`);

/**
 * Runs a step and says what it did and how long it took.
 * @template T
 * @param {string} label
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function step(label, work) {
  const start = performance.now();
  const took = () => `${((performance.now() - start) / 1000).toFixed(2)} s`.padStart(8);
  try {
    const result = await work();
    say(`  ✓ ${label.padEnd(58)} ${took()}`);
    return result;
  } catch (error) {
    say(`  ✗ ${label.padEnd(58)} ${took()}`);
    throw error;
  }
}

/** A failure whose message is for a person and says the way out: shown without a stack trace. */
export class SetupError extends Error {}

/**
 * Promise.all that waits for every one, and tells of every failure: one message for all that is missing, and nothing
 * going on behind it.
 * @template {readonly unknown[]} T
 * @param {T} work
 * @returns {Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }>}
 */
export async function allOf(work) {
  const failures = (await Promise.allSettled(work))
    .filter(({ status }) => status === 'rejected')
    .map(({ reason }) => reason);
  const unexpected = failures.find((failure) => !(failure instanceof SetupError));
  if (unexpected) throw unexpected;
  if (failures.length > 0) throw new SetupError(failures.map(({ message }) => message).join('\n\n'));
  return await Promise.all(work);
}
