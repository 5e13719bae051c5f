import { type StackWallet, until } from '@pf/testing';
import type { Tempo } from '@pf/testing/chains';
import { newWallet, tempoWallet, walletOn } from '@pf/testing/wallets';
import type { Hex } from 'viem';
import { Account, Transaction } from 'viem/tempo';
import { UNITS, WAIT_MS } from './shop.ts';

/** The USDC that a wallet has. */
export const held = (chain: Tempo, wallet: StackWallet): Promise<bigint> =>
  walletOn(chain, wallet).tokenBalance(chain.tokens['USDC'] ?? '');

/** Someone with exactly the amount of an order, and nothing for a fee. */
export async function penniless(chain: Tempo): Promise<StackWallet> {
  const payer = newWallet(chain);
  const rich = tempoWallet(chain, chain.wallets[0] as StackWallet);
  await rich.transfer(chain.tokens['USDC'] ?? '', payer.address, UNITS);
  await until('the payer to have the amount', async () => (await held(chain, payer)) === UNITS, WAIT_MS);
  return payer;
}

/** What a payer has signed for whoever pays the fee. @param blob as `build` returns it */
export function signedForFeePayer(blob: string, payer: StackWallet): Promise<Hex> {
  const unsigned = Transaction.deserialize(`0x${Buffer.from(blob, 'base64').toString('hex')}`);
  return Account.fromSecp256k1(payer.privateKey as Hex).signTransaction({ ...unsigned, feePayer: true } as never);
}
