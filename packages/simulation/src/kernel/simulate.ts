import { patchGlobals } from './globals.ts';
import { Kernel } from './kernel.ts';

const LONGEST_MS = 60 * 60 * 1_000;

/**
 * Runs `body` as the process "test" of a new simulation, in virtual time, and resolves with its result.
 *
 * @throws what `body` throws; Error if it waits for something that never happens, or for an hour of virtual time
 */
export async function simulate<Result>(
  seed: number,
  body: (kernel: Kernel) => Promise<Result>,
  options: { readonly keptLines?: number } = {},
): Promise<Result> {
  const kernel = new Kernel(seed, options);
  using _globals = patchGlobals();
  let outcome: { readonly result: Result } | null = null;
  kernel.spawn('test', async () => {
    outcome = { result: await body(kernel) };
  });
  const end = kernel.now() + LONGEST_MS;
  await kernel.run({ until: end, done: () => outcome !== null });
  if (outcome === null)
    throw new Error(
      kernel.now() >= end
        ? 'The simulated test is not over after an hour of virtual time.'
        : 'The simulated test waits for something that never happens.',
    );
  return (outcome as { readonly result: Result }).result;
}
