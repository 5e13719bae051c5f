import type { StackChain, StackWallet } from '@pf/testing';
import type { DemoChain } from '../options.ts';
import { moneyTaken, nonceReplaced } from './evm.ts';
import type { Mishap } from './mishap.ts';
import { accountFrozen, leftOut } from './solana.ts';
import { outOfTime } from './tempo.ts';

/** How each chain loses a transaction for good. */
export const drops: Readonly<Record<DemoChain, (chain: StackChain, payer: StackWallet) => Mishap>> = { base: nonceReplaced, solana: leftOut, tempo: outOfTime };

/** How a transaction fails on each chain that nothing was wrong with when it was sent. */
export const failures: Readonly<Record<DemoChain, (chain: StackChain, payer: StackWallet) => Mishap | Promise<Mishap>>> = { base: moneyTaken, solana: accountFrozen, tempo: moneyTaken };
