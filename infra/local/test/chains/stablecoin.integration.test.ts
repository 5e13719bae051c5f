import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chainOf, readBackingStack } from '@pf/testing';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { InterfaceAbi } from 'ethers/abi';
import { Contract } from 'ethers/contract';
import { JsonRpcProvider, NonceManager } from 'ethers/providers';
import { parseEther } from 'ethers/utils';
import { HDNodeWallet, Mnemonic, Wallet } from 'ethers/wallet';
import { MNEMONIC } from '../../src/chains/anvil.ts';

const { abi } = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve('@pf/testing/contracts/Stablecoin.json'), 'utf8'),
) as {
  abi: InterfaceAbi;
};
const chain = chainOf(readBackingStack(), 'base');
const provider = new JsonRpcProvider(chain.rpcUrl, undefined, { staticNetwork: true, pollingInterval: 50 });
const address = chain.tokens['USDC'] as string;
const at = (index: number): NonceManager =>
  new NonceManager(
    new Wallet(
      HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(MNEMONIC), `m/44'/60'/0'/0/${index}`).privateKey,
      provider,
    ),
  );
const token = (signer: NonceManager) => new Contract(address, abi, signer);
/** Account 9 owns the tokens. Accounts 8 and 9 are in no stack.json: nothing else moves their nonces. */
const owner = at(9);
const rich = at(8);

/** Waits until the transaction is mined. */
async function done(sent: Promise<{ wait: () => Promise<unknown> }>): Promise<unknown> {
  return (await sent).wait();
}
const call = (signer: NonceManager, name: string, ...args: unknown[]) =>
  done(token(signer).getFunction(name)(...args) as Promise<{ wait: () => Promise<unknown> }>);
const balance = (of: string): Promise<bigint> =>
  token(owner).getFunction('balanceOf').staticCall(of) as Promise<bigint>;

describe('USDC on the local Base chain', () => {
  afterAll(() => provider.destroy());

  it('behaves like the real token: six decimals, minting, transfers, reverts with a reason', async () => {
    const payer = Wallet.createRandom(provider);
    const payee = Wallet.createRandom().address;
    await done(rich.sendTransaction({ to: payer.address, value: parseEther('1') }));
    await call(owner, 'mint', payer.address, 5_000_000n);
    const signer = new NonceManager(payer);

    expect(await token(owner).getFunction('decimals').staticCall()).toBe(6n);
    await call(signer, 'transfer', payee, 2_000_000n);
    expect([await balance(payer.address), await balance(payee)]).toEqual([3_000_000n, 2_000_000n]);
    await expect(token(signer).getFunction('transfer').staticCall(payee, 3_000_001n)).rejects.toThrow(
      'ERC20: transfer amount exceeds balance',
    );

    await call(owner, 'blacklist', payee);
    await expect(token(signer).getFunction('transfer').staticCall(payee, 1n)).rejects.toThrow(
      'Blacklistable: account is blacklisted',
    );
    await call(owner, 'unBlacklist', payee);
    expect(await token(signer).getFunction('transfer').staticCall(payee, 1n)).toBe(true);
  });

  it('accepts a reference after the arguments of transfer, as Circle’s contract does', async () => {
    const payee = Wallet.createRandom().address;
    await call(owner, 'mint', await rich.getAddress(), 1_000_000n);
    const calldata = `${token(owner).interface.encodeFunctionData('transfer', [payee, 7n])}${'ab'.repeat(32)}`;
    await done(rich.sendTransaction({ to: address, data: calldata }));
    expect(await balance(payee)).toBe(7n);
  });
});
