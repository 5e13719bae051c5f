import { LateReads } from '../../src/late-reads.ts';
import type { Look } from '../../src/solana/observe/looking.ts';
import type { LateLooks } from '../../src/solana/observe/lookups.ts';

/** Nothing was late so far. */
export const noneLate = (): LateLooks => ({ reads: new LateReads<Look>(() => 0), come: new Map() });
