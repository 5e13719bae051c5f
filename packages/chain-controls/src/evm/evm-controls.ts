import { z } from 'zod';
import { arm } from '../armed.ts';
import { ControlError } from '../control-error.ts';
import type {
  PaymentFilter,
  Armed,
  ChainControls,
  Held,
  Orphaned,
  Payment,
  ReorgOptions,
  AffectedPayment,
} from '../controls.ts';
import { anything, type Node } from '../node.ts';
import { pause } from '@pf/runtime';
import { blockAt, giveBack, type BlockControl, isHeld, requireLocal, sendAgain, takeOver } from './block-control.ts';
import { toQuantity } from './quantity.ts';
import type { EvmRules } from './rules.ts';
import { failForInsufficientBalance, useUpNonce } from './inject-failures.ts';
import { findPayment, type FoundPayment, pool } from './transaction.ts';

const height = z.object({ number: z.string().transform(Number) });
const shown = ({ hash, payer, reference }: FoundPayment): Payment => ({ hash, payer, reference });

/** anvil's own controls, and its blocks made from here while something waits for a payment. */
export function evmControls(node: Node, rules: EvmRules): ChainControls {
  const heightAt = async (tag: 'latest' | 'finalized'): Promise<number> =>
    (await node.call(height, 'eth_getBlockByNumber', tag, false)).number;

  /**
   * Makes block after block until the payment waits for the next one. null: it was ended.
   * @param mayBeGone also when it waits no more, because its block was taken back
   */
  async function catchWaiting(
    hand: BlockControl,
    filter: PaymentFilter,
    mayBeGone: boolean,
    ending: AbortSignal,
  ): Promise<FoundPayment | null> {
    while (!ending.aborted) {
      await hand.requireOurs();
      const all = await node.call(pool, 'txpool_content');
      const waiting = findPayment(all, filter);
      if (waiting) return waiting;
      // No empty blocks: the payment could get into one between the look and the block.
      const blocks = all.length === 0 ? await hand.look() : await hand.mine();
      const early = findPayment(
        blocks.flatMap(({ transactions }) => transactions),
        filter,
      );
      if (early) {
        // It came between the look and the block of another: that block never was, before a reader has seen it, and
        // it waits again. On Tempo it does so once the service has broadcast it again, if it still lives then.
        await sendAgain(node, await hand.takeBack(blocks.length));
        if (mayBeGone) return early;
      } else await pause(rules.blockMs, ending);
    }
    return null;
  }

  async function strike(
    filter: PaymentFilter,
    mayBeGone: boolean,
    how: (hand: BlockControl, payment: FoundPayment) => Promise<Pick<AffectedPayment, 'how' | 'provenFrom'>>,
  ): Promise<Armed<AffectedPayment>> {
    const hand = await takeOver(node, rules);
    return arm(async (ending) => {
      try {
        const payment = await catchWaiting(hand, filter, mayBeGone, ending);
        return payment && { ...shown(payment), ...(await how(hand, payment)) };
      } finally {
        await hand.release();
      }
    });
  }

  async function takeBack(hand: BlockControl, depth: number, { lose }: ReorgOptions): Promise<Orphaned> {
    const lost = await hand.takeBack(depth);
    if (lose) for (const { transaction } of lost) await useUpNonce(node, hand, transaction);
    else await sendAgain(node, lost);
    return { blocks: depth, transactions: lost.map(({ transaction }) => transaction.hash), provenWithinSeconds: 0 };
  }

  return {
    drop: (filter) =>
      strike(filter, true, async (hand, payment) => {
        await useUpNonce(node, hand, payment.transaction);
        return {
          how: `another transaction of its payer used the nonce, ${String(payment.transaction.nonce)}`,
          provenFrom: rules.provenFrom(payment),
        };
      }),
    fail: (filter) =>
      strike(filter, false, async (hand, payment) => {
        await failForInsufficientBalance(node, hand, payment);
        return { how: "its payer's money was gone for that block, and the token's code refused it", provenFrom: null };
      }),
    async hold(filter) {
      if (rules.whyNoReorg !== null) throw new ControlError(rules.whyNoReorg);
      const hand = await takeOver(node, rules);
      const wait = async (ending: AbortSignal): Promise<Held | null> => {
        while (!ending.aborted) {
          await hand.requireOurs();
          const blocks = await hand.mine();
          const at = blocks.findIndex(({ transactions }) => findPayment(transactions, filter) !== null);
          const payment = findPayment(blocks[at]?.transactions ?? [], filter);
          if (payment) {
            return {
              ...shown(payment),
              orphan: (options) => takeBack(hand, blocks.length - at, options).finally(() => hand.release()),
              release: () => hand.release(),
            };
          }
          await pause(rules.blockMs, ending);
        }
        await hand.release();
        return null;
      };
      return arm((ending) =>
        wait(ending).catch(async (error: unknown) => {
          await hand.release();
          throw error;
        }),
      );
    },
    async reorg(depth, options) {
      if (rules.whyNoReorg !== null) throw new ControlError(rules.whyNoReorg);
      const hand = await takeOver(node, rules);
      try {
        const [head, final] = await Promise.all([heightAt('latest'), heightAt('finalized')]);
        if ((depth ?? 1) > head - final)
          throw new ControlError(`Block ${final} is final: at most ${head - final} blocks can be taken back`);
        return await takeBack(hand, depth ?? head - final, options);
      } finally {
        await hand.release();
      }
    },
    async stall() {
      const hand = await takeOver(node, rules);
      return () => hand.release();
    },
    async finalize() {
      await requireLocal(node);
      const { number, baseFeePerGas } = await blockAt(node, 'latest');
      const behind = Number(number) - (await heightAt('finalized'));
      await node.call(anything, 'anvil_mine', toQuantity(Math.max(1, behind)));
      if (rules.hasFixedBaseFee)
        await node.call(anything, 'anvil_setNextBlockBaseFeePerGas', toQuantity(baseFeePerGas));
      return heightAt('finalized');
    },
    async heal() {
      await requireLocal(node);
      await giveBack(node);
    },
    async state() {
      const [version, head, final, held] = await Promise.all([
        requireLocal(node),
        heightAt('latest'),
        heightAt('finalized'),
        isHeld(node),
      ]);
      return { node: version, head, final, clock: held ? 'held' : 'running', armed: [] };
    },
  };
}
