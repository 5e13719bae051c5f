import { callRpc } from '@pf/rpc/client';
import type { StackChain } from '@pf/testing';
import { Interface } from 'ethers';
import { z } from 'zod';

/** TIP-20's, which anvil shows as bytes. */
const errors = new Interface(['error InsufficientBalance(uint256 available, uint256 required, address token)']);
const call = { to: z.string().nullish(), input: z.string().nullish() };
/** On Tempo the call stands in a list. */
const transaction = z.object({
  from: z.string(),
  blockNumber: z.string(),
  ...call,
  calls: z.array(z.object(call)).nullish(),
});
const landed = z.object({ meta: z.object({ err: z.unknown(), logMessages: z.array(z.string()) }) });

/** Why a transaction failed, in the chain's own words. */
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
  // The same once more, on the state that its block began with: a node tells why only of what it runs itself.
  const before = `0x${(BigInt(blockNumber) - 1n).toString(16)}`;
  return await callRpc(url, 'eth_call', [{ from, to: made.to, data: made.input }, before]).then(
    () => 'unknown',
    inWords,
  );
}

/** What anvil says of a call that reverts, with TIP-20's errors by their names. */
function inWords(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  const [, selector, args = ''] = /custom error (0x[0-9a-f]{8})(?:: ([0-9a-f]+))?/.exec(said) ?? [];
  const known = selector === undefined ? null : errors.parseError(`${selector}${args}`);
  return known === null ? said.replace('eth_call: ', '') : `${known.name}(${known.args.join(', ')})`;
}
