import { describe, expect, it } from '@jest/globals';
import { checkGains } from './gains.ts';

/**
 * A long run is made by hand: `PF_GAINS_RUNS=100000 PF_GAINS_SEED=1 npm test unit …/gains.unit.test.ts`. A transaction
 * follows from the seed and its number together: seeds of several runs are to lie further apart than their numbers.
 */
const RUNS = Number(process.env['PF_GAINS_RUNS'] ?? 400);
const SEED = Number(process.env['PF_GAINS_SEED'] ?? 20_261_126);
const TIMEOUT_MS = 120_000 + 40 * RUNS;

describe('what is observed of transactions of any kind on the token programs', () => {
  it(
    'is never more than the requestor gained, and all of it where payments are honest',
    async () => {
      const tally = await checkGains(RUNS, SEED);
      // Otherwise it has not looked at what it is for.
      expect(tally.executed).toBeGreaterThan(0.4 * RUNS);
      expect(tally.landings).toBeGreaterThan(0.2 * RUNS);
      expect(tally.unproven).toBeGreaterThan(0);
      expect(tally.arrivals).toBeGreaterThan(0.1 * RUNS);
    },
    TIMEOUT_MS,
  );
});
