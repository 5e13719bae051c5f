import { describe, expect, it } from '@jest/globals';
import type { IntentId, TransactionHash } from '@pf/domain';
import { findFinalReverts } from '../../../src/base/observe/pending-outcomes.ts';
import { respondingNode } from '../../nodes.ts';
import { fulfiller, terms } from '../payments.ts';

const BLOCK = { number: 7n, hash: `0x${'bb'.repeat(32)}` };

describe('the revert of a submission for which its intent no longer waits', () => {
  let asked = 0;
  const node = respondingNode(() => {
    asked += 1;
    return BLOCK;
  });
  const found = async (blockHash: string, finalized: bigint): Promise<readonly string[]> => {
    asked = 0;
    const pending = {
      intentId: 'pi_1' as IntentId,
      hash: `0x${'ab'.repeat(32)}` as TransactionHash,
      sender: fulfiller,
      nonce: 1n,
      terms,
      since: 0,
      ignoresRevert: true,
    };
    const reverted = [{ pending, block: BLOCK.number, blockHash }];
    return (await findFinalReverts({ node }, reverted, finalized)).map(({ type }) => type);
  };

  it('ends it once its block is final', async () => {
    expect([await found(BLOCK.hash, 7n), asked]).toEqual([['dropped'], 1]);
  });

  it('does not end it where another block is final in the place of its own', async () => {
    expect(await found(`0x${'cc'.repeat(32)}`, 7n)).toEqual([]);
  });

  it('costs no call before', async () => {
    expect([await found(BLOCK.hash, 6n), asked]).toEqual([[], 0]);
  });
});
