import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { advance, type Checkpoint } from '../../../src/evm/observe/checkpoints.ts';

describe('EVM checkpoints', () => {
  it('stay few over weeks of blocks, newest first, dense near the head and never far apart below it', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 50, maxLength: 3_000 }), (strides) => {
        let checkpoints: Checkpoint[] = [{ number: 0n, hash: 'first' }];
        let head = 0n;
        for (const stride of strides) {
          head += BigInt(stride);
          checkpoints = advance(checkpoints, { number: head, hash: '' });
        }
        expect(checkpoints[0]?.number).toBe(head);
        expect(checkpoints.length).toBeLessThan(80);
        const depths = checkpoints.map(({ number }) => Number(head - number));
        expect(depths).toEqual([...depths].sort((a, b) => a - b));
        // A reorg is read back to at most some times its depth.
        for (let place = 33; place < depths.length; place += 1)
          expect(depths[place]).toBeLessThanOrEqual(4 * (depths[place - 1] ?? 0) + 80);
      }),
      { numRuns: 30 },
    );
  });
});
