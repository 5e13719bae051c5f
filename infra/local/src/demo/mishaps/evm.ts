import { newWallet, type StackChain, type StackWallet, until, walletOn } from '@pf/testing';
import { Interface } from 'ethers';
import { z } from 'zod';
import { rpc } from '../../rpc.ts';
import { hold, release } from './held-chain.ts';
import type { Mishap } from './mishap.ts';

const token = new Interface([
  'function transfer(address to, uint256 amount)',
  'function approve(address spender, uint256 amount)',
  'function transferFrom(address from, address to, uint256 amount)',
  // TIP-20
  'error InsufficientBalance(uint256 available, uint256 required, address token)',
]);
/** What the payer has, and what another takes of it: what is left pays fees on Tempo, but not the payment. */
const PURSE = 2_000_000n;
const TAKEN = 1_900_000n;
const ETHER = '0xde0b6b3a7640000';
/** Wei per gas: more than any payment offers, so that it comes first in its block. */
const FIRST = { maxFeePerGas: `0x${(200_000_000_000n).toString(16)}`, maxPriorityFeePerGas: `0x${(1_000_000_000n).toString(16)}` };

const call = { to: z.string().optional(), input: z.string().optional() };
/** On Tempo the call stands in a list. */
const transaction = z.looseObject({ from: z.string(), nonce: z.string(), blockNumber: z.string().nullable(), ...call, calls: z.array(z.looseObject(call)).optional() });

/** A transaction of an account that anvil holds the key of, or impersonates; resolves when the pool has it. */
const send = (url: string, from: string, to: string, data: string, more: object = {}): Promise<unknown> =>
  rpc(url, 'eth_sendTransaction', [{ from, to, data, gas: '0x7a120', ...more }]);

async function landed(url: string, hash: unknown): Promise<void> {
  await until(`${String(hash)} to land`, async () => (await rpc(url, 'eth_getTransactionReceipt', [hash])) !== null);
}

/** What anvil says of a call that reverts, with TIP-20's errors by their names. */
function inWords(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  const [, selector, args = ''] = /custom error (0x[0-9a-f]{8})(?:: ([0-9a-f]+))?/.exec(said) ?? [];
  const known = selector === undefined ? null : token.parseError(`${selector}${args}`);
  return known === null ? said.replace('eth_call: ', '') : `${known.name}(${known.args.join(', ')})`;
}

/** The parts that every mishap on such a chain has. */
export function onEvm(chain: StackChain, payer: StackWallet, strike: Mishap['strike']): Mishap {
  const url = chain.rpcUrl;
  return {
    payer,
    async arm() {
      await hold(url);
      return ['(no blocks for a moment)', ''];
    },
    sign: (blob) => walletOn(chain, payer).sign(blob),
    strike,
    async reason(hash) {
      const { from, blockNumber, calls, to, input } = transaction.parse(await rpc(url, 'eth_getTransactionByHash', [hash]));
      const call = calls?.[0] ?? { to, input };
      return await rpc(url, 'eth_call', [{ from, to: call.to, data: call.input }, blockNumber]).then(() => 'unknown', inWords);
    },
    undo: async () => void (await release(url)),
  };
}

/** Somebody whom the payer allowed to take its money does so just before the payment. */
export async function moneyTaken(chain: StackChain): Promise<Mishap> {
  const { rpcUrl: url } = chain;
  const [rich, , , , , , , taker] = chain.wallets;
  const usdc = chain.tokens['USDC'];
  if (!rich || !taker || usdc === undefined) throw new Error('too few wallets, or no USDC');
  const payer = newWallet(chain);
  await rpc(url, 'anvil_setBalance', [payer.address, ETHER]);
  // On Tempo, what is no transfer is paid for in pathUSD.
  for (const address of [usdc, chain.tokens['pathUSD']]) {
    if (address !== undefined) await landed(url, await send(url, rich.address, address, token.encodeFunctionData('transfer', [payer.address, PURSE])));
  }
  await rpc(url, 'anvil_impersonateAccount', [payer.address]);
  await landed(url, await send(url, payer.address, usdc, token.encodeFunctionData('approve', [taker.address, TAKEN])));
  await rpc(url, 'anvil_stopImpersonatingAccount', [payer.address]);
  return onEvm(chain, payer, async () => {
    await send(url, taker.address, usdc, token.encodeFunctionData('transferFrom', [payer.address, rich.address, TAKEN]), FIRST);
    await release(url);
    return ['another takes the money', 'allowed to, with a higher fee: it comes first in the block'];
  });
}

/** Base: the payer uses the nonce for something else, as "cancel" in a wallet does. */
export function nonceReplaced(chain: StackChain, payer: StackWallet): Mishap {
  const { rpcUrl: url } = chain;
  return onEvm(chain, payer, async (hash) => {
    const { nonce } = transaction.parse(await rpc(url, 'eth_getTransactionByHash', [hash]));
    await rpc(url, 'anvil_dropTransaction', [hash]);
    await send(url, payer.address, payer.address, '0x', { nonce, gas: '0x5208', ...FIRST });
    await release(url);
    return ['the wallet cancels it', `it sends another transaction with the same nonce, ${Number(nonce)}`];
  });
}
