import { callRpc } from '@pf/rpc/client';
import type { StackChain } from '@pf/testing';
import { Interface } from 'ethers/abi';
import { z } from 'zod';

/** TIP-20 errors, which anvil does not decode. */
const errors = new Interface(['error InsufficientBalance(uint256 available, uint256 required, address token)']);
const call = { to: z.string().nullish(), input: z.string().nullish() };
/** A Tempo transaction has a list of calls. */
const transaction = z.object({
  from: z.string(),
  blockNumber: z.string(),
  ...call,
  calls: z.array(z.object(call)).nullish(),
});
const landed = z.object({ meta: z.object({ err: z.unknown(), logMessages: z.array(z.string()) }) });

/** Why a transaction failed, as the chain reports it. */
export async function reasonOf({ caip2, rpcUrl: url }: StackChain, hash: string): Promise<string> {
  if (caip2.startsWith('solana:')) {
    const { meta } = landed.parse(
      await callRpc(url, 'getTransaction', [
        hash,
        { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 0 },
      ]),
    );
    return (
      `${JSON.stringify(meta.err)} ` + `${meta.logMessages.findLast((line) => line.startsWith('Program log: ')) ?? ''}`
    ).trim();
  }
  const { from, blockNumber, calls, to, input } = transaction.parse(
    await callRpc(url, 'eth_getTransactionByHash', [hash]),
  );
  const made = calls?.[0] ?? { to, input };
  // Repeats the call on the state before its block: a receipt has no revert reason, an `eth_call` has.
  const before = `0x${(BigInt(blockNumber) - 1n).toString(16)}`;
  return await callRpc(url, 'eth_call', [{ from, to: made.to, data: made.input }, before]).then(
    () => 'unknown',
    revertReason,
  );
}

/** anvil's message about a call that reverts, with TIP-20 errors by their names. */
function revertReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [, selector, args = ''] = /custom error (0x[0-9a-f]{8})(?:: ([0-9a-f]+))?/.exec(message) ?? [];
  const known = selector === undefined ? null : errors.parseError(`${selector}${args}`);
  return known === null ? message.replace('eth_call: ', '') : `${known.name}(${known.args.join(', ')})`;
}
