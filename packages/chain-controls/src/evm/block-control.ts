import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ControlError } from '../control-error.ts';
import { anything, type Node } from '../node.ts';
import { quantity, toQuantity } from './quantity.ts';
import type { EvmRules } from './rules.ts';
import { type Transaction, transaction } from './transaction.ts';

/**
 * The supervisor's block clock stands back while a chain has an interval of its own: this one is ours, and is never
 * waited out.
 */
const HELD_SECONDS = 3600;

const block = z.object({ number: quantity, baseFeePerGas: quantity, transactions: z.array(transaction) });
export type Block = z.infer<typeof block>;
const interval = z.number().nullable();

export const blockAt = (node: Node, at: bigint | 'latest'): Promise<Block> =>
  node.call(block, 'eth_getBlockByNumber', typeof at === 'bigint' ? toQuantity(at) : at, true);
export const isHeld = async (node: Node): Promise<boolean> =>
  (await node.call(interval, 'anvil_getIntervalMining')) === HELD_SECONDS;
export const giveBack = (node: Node, seconds: number | null = null): Promise<unknown> =>
  node.call(anything, 'evm_setIntervalMining', seconds ?? 0);

/** @returns what it calls itself @throws ControlError where it is no local chain */
export async function requireLocal(node: Node): Promise<string> {
  const version = await node.call(z.string(), 'web3_clientVersion');
  if (!version.startsWith('anvil/'))
    throw new ControlError(`The node at ${new URL(node.url).host} is ${version}, no local chain: it has no controls`);
  return version;
}

/** A transaction that was in a block which was taken back. */
export interface Lost {
  readonly transaction: Transaction;
  /**
   * As a node takes it; null where it cannot say: asked for the bytes of a 0x76 that is in a block, anvil 1.7 ends with
   * a panic.
   */
  readonly bytes: string | null;
}
const bytesOf = (node: Node, { hash, nonceKey }: Transaction): Promise<string | null> =>
  nonceKey === null || nonceKey === undefined
    ? node.call(z.string(), 'eth_getRawTransactionByHash', hash)
    : Promise.resolve(null);

/**
 * What was taken back waits for a block again. What has no bytes here is the service's own, which broadcasts it by
 * itself.
 */
export async function sendAgain(node: Node, lost: readonly Lost[]): Promise<void> {
  for (const { bytes } of lost) if (bytes !== null) await node.call(anything, 'eth_sendRawTransaction', bytes);
}

/** A chain whose blocks are made here and nowhere else. */
export interface BlockControl {
  /** @returns the blocks that came since the last look, from elsewhere too: one that was under way may be late */
  look(): Promise<readonly Block[]>;
  /** Makes a block, and looks. */
  mine(): Promise<readonly Block[]>;
  /** @throws ControlError where another control has taken the chain back */
  requireOurs(): Promise<void>;
  /** Takes back blocks, the newest first. @returns what was in them, oldest first */
  takeBack(depth: number): Promise<readonly Lost[]>;
  /** The chain goes on as it did before. */
  release(): Promise<void>;
}

/** @throws ControlError where the node is no local chain, or another control has its hand on it */
export async function takeOver(node: Node, { blockMs, hasFixedBaseFee }: EvmRules): Promise<BlockControl> {
  await requireLocal(node);
  const before = await node.call(interval, 'anvil_getIntervalMining');
  if (before === HELD_SECONDS)
    throw new ControlError(
      'Another control has its hand on this chain. End that one first, or heal the chain: pf chain heal',
    );
  const { number: newest, baseFeePerGas } = await blockAt(node, 'latest');
  let seen = newest;
  await node.call(anything, 'evm_setIntervalMining', HELD_SECONDS);
  // The supervisor's clock learns of it with the block that it makes then.
  await sleep(1.5 * blockMs);

  /** Each block makes another fee of it. */
  const keepFee = async (): Promise<void> => {
    if (hasFixedBaseFee) await node.call(anything, 'anvil_setNextBlockBaseFeePerGas', toQuantity(baseFeePerGas));
  };
  const blocksFrom = async (first: bigint): Promise<Block[]> => {
    const head = await node.call(quantity, 'eth_blockNumber');
    return Promise.all(
      Array.from({ length: Math.max(0, Number(head - first) + 1) }, (_, index) => blockAt(node, first + BigInt(index))),
    );
  };
  async function look(): Promise<readonly Block[]> {
    const blocks = await blocksFrom(seen + 1n);
    seen = blocks.at(-1)?.number ?? seen;
    return blocks;
  }
  return {
    look,
    async mine() {
      await node.call(anything, 'evm_mine');
      await keepFee();
      return look();
    },
    async requireOurs() {
      if (!(await isHeld(node))) throw new ControlError('The chain was healed meanwhile: this control has ended');
    },
    async takeBack(depth) {
      const head = await node.call(quantity, 'eth_blockNumber');
      const transactions = (await blocksFrom(head - BigInt(depth) + 1n)).flatMap((one) => one.transactions);
      const lost = await Promise.all(
        transactions.map(async (one) => ({ transaction: one, bytes: await bytesOf(node, one) })),
      );
      await node.call(anything, 'anvil_reorg', depth, []);
      await keepFee();
      return lost;
    },
    release: async () => void (await giveBack(node, before)),
  };
}
