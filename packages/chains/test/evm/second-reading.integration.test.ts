import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { upstreamAt } from '@pf/rpc';
import { BaseObserver } from '../../src/base/observer.ts';
import { TempoObserver } from '../../src/tempo/observer.ts';
import type { ChainObserver, Cursor } from '../../src/index.ts';
import { poolOver, startBase } from '../base/chain.ts';
import { Watched } from '../conformance/watching.ts';
import { startTempoUnderTest, tempoPool } from '../tempo/chain.ts';

/** Blocks that are read at a time, and how many there are. */
const RANGE = 2;
const BLOCKS = 20;
/** Longer than any pause between two second readings. */
const DUE_MS = 15_000;

interface Chain {
  readonly observer: ChainObserver;
  /** The name in the cursor of the block up to which logs were read a second time. */
  readonly field: string;
  readonly mine: (blocks: number) => Promise<void>;
  readonly pass: (ms: number) => void;
  readonly stop: () => Promise<void>;
}
let now = 1_000_000;
const clock = { now: () => now, pass: (ms: number) => void (now += ms) };

const onBase = async (): Promise<Chain> => {
  const under = await startBase();
  const pool = poolOver([{ ...upstreamAt(under.anvil.rpcUrl), plan: { logRange: RANGE } }]);
  return {
    observer: new BaseObserver(under.adapter.network, pool, clock.now),
    field: 'rescanned',
    mine: (blocks) => under.anvil.mine(blocks),
    pass: clock.pass,
    stop: async () => void (await Promise.all([pool.close(), under.stop()])),
  };
};
const onTempo = async (): Promise<Chain> => {
  const under = await startTempoUnderTest();
  const pool = tempoPool([{ ...upstreamAt(under.tempo.rpcUrl), plan: { logRange: RANGE } }]);
  return {
    observer: new TempoObserver(under.adapter.network, pool, clock.now),
    field: 'reread',
    mine: (blocks) => under.tempo.mine(blocks),
    pass: clock.pass,
    stop: async () => void (await Promise.all([pool.close(), under.stop()])),
  };
};

describe.each([
  ['Base', onBase],
  ['Tempo', onTempo],
])('the second reading of %s on a plan of short ranges', (_name, start) => {
  let chain: Chain;
  beforeAll(async () => {
    chain = await start();
  });
  afterAll(() => chain.stop());

  it('goes on in the next step where one call did not take all blocks', async () => {
    const terms = new Watched();
    let cursor: Cursor | null = null;
    const step = async (): Promise<void> => {
      ({ cursor } = await chain.observer.step(cursor, () => Promise.resolve(terms)));
    };
    const readTwice = (): number => Number((cursor as Cursor)[chain.field]);
    await step();
    const began = readTwice();
    await chain.mine(BLOCKS);
    for (let steps = 0; steps < BLOCKS; steps += 1) await step();
    // Tempo reads a second time what was read when it last looked.
    for (const _look of [1, 2]) {
      chain.pass(DUE_MS);
      await step();
    }
    for (let steps = 0; steps < BLOCKS; steps += 1) await step();
    expect(readTwice() - began).toBeGreaterThan(BLOCKS / 2);
  });
});
