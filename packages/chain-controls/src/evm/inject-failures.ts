import { z } from 'zod';
import { ControlError } from '../control-error.ts';
import { anything, type Node } from '../node.ts';
import { storedBalance } from './balance.ts';
import type { BlockControl } from './block-control.ts';
import { quantity, toQuantity } from './quantity.ts';
import type { FoundPayment, Transaction } from './transaction.ts';

/** Another broadcast of the payment may come in between. */
const TRIES = 5;
const receipt = z.object({ status: quantity }).nullable();
const receiptOf = (node: Node, hash: string): Promise<z.infer<typeof receipt>> =>
  node.call(receipt, 'eth_getTransactionReceipt', hash);

/** What a node lets take the place of another: a quarter more. */
const more = (fee: bigint | null | undefined): string => toQuantity(((fee ?? 0n) * 5n) / 4n);

/**
 * Another transaction of the same sender uses the nonce, as "cancel" in a wallet does: the one that had it can never
 * land.
 */
export async function useUpNonce(node: Node, hand: BlockControl, transaction: Transaction): Promise<void> {
  const { hash, from, nonce, nonceKey, gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas, feeToken } = transaction;
  const itself = { from, to: from, value: '0x0', nonce: toQuantity(nonce), gas: toQuantity(gas) };
  const fees =
    maxFeePerGas === null || maxFeePerGas === undefined
      ? { gasPrice: more(gasPrice) }
      : { maxFeePerGas: more(maxFeePerGas), maxPriorityFeePerGas: more(maxPriorityFeePerGas) };
  const onTempo =
    nonceKey === null || nonceKey === undefined
      ? {}
      : {
          type: '0x76',
          nonceKey: toQuantity(nonceKey),
          calls: [{ to: from, value: '0x0', input: '0x' }],
          ...(feeToken && { feeToken }),
        };
  await node.call(anything, 'anvil_impersonateAccount', from);
  try {
    for (let tries = TRIES; ; tries -= 1) {
      await node.call(anything, 'anvil_dropTransaction', hash);
      await node.call(anything, 'eth_sendTransaction', { ...itself, ...fees, ...onTempo });
      await hand.mine();
      if ((await receiptOf(node, hash)) === null) return;
      if (tries === 1) throw new ControlError(`${hash} landed each time it was dropped`);
      await hand.takeBack(1);
    }
  } finally {
    await node.call(anything, 'anvil_stopImpersonatingAccount', from);
  }
}

/** The payer's balance is gone for the one block that the payment gets into; the token's own code refuses it. */
export async function failForInsufficientBalance(
  node: Node,
  hand: BlockControl,
  { hash, payer, token, amount, transaction }: FoundPayment,
): Promise<void> {
  const { gas, maxFeePerGas, gasPrice, feeToken, nonceKey } = transaction;
  const balance = await storedBalance(node, token, payer);
  // Tempo takes the most that the fee can be beforehand, in a token, and without it there is no failure: just no block.
  // In 10^-12 of the fee's price.
  const fee =
    nonceKey === null || nonceKey === undefined ? 0n : (gas * (maxFeePerGas ?? gasPrice ?? 0n)) / 10n ** 12n + 1n;
  const isPaidFromIt = feeToken?.toLowerCase() === token.toLowerCase();
  const rest = isPaidFromIt || fee < amount ? fee : amount - 1n;
  const held = await balance.read();
  await balance.write(rest);
  try {
    await hand.mine();
  } finally {
    await balance.write((await balance.read()) + held - rest);
  }
  const landed = await receiptOf(node, hash);
  if (landed?.status !== 0n)
    throw new ControlError(
      landed === null ? `${hash} got into no block: does its nonce leave a gap?` : `${hash} did not fail`,
    );
}
