import type { RpcNode, RpcPool } from '@pf/rpc';
import { LateReads } from '../../src/late-reads.ts';
import { type Doubting, secondReader } from '../../src/solana/observe/finality.ts';
import type { Look } from '../../src/solana/observe/looking.ts';
import type { LateLooks } from '../../src/solana/observe/lookups.ts';

/** Nothing was late so far. */
export const noneLate = (): LateLooks => ({ reads: new LateReads<Look>(() => 0), come: new Map() });

/** A step that asks a second upstream of this one for as many as there are. */
export const doubtingBy = (pool: RpcPool, node: RpcNode): Doubting => ({
  pool,
  node,
  seconds: secondReader(pool, () => 0).collect(),
  most: Number.POSITIVE_INFINITY,
});
