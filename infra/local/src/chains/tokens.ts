import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { callRpc } from '@pf/rpc/client';
import { Interface } from 'ethers/abi';
import { HDNodeWallet, Mnemonic } from 'ethers/wallet';
import { z } from 'zod';
import { MNEMONIC } from './anvil.ts';
import { eventually } from '../processes/wait.ts';

export interface Token {
  readonly symbol: string;
  readonly name: string;
  readonly currency: string;
  readonly address: string;
}

const usdc = { symbol: 'USDC', name: 'USD Coin', currency: 'USD' };
const eurc = { symbol: 'EURC', name: 'Euro Coin', currency: 'EUR' };
const usdt = { symbol: 'USDT', name: 'Tether USD', currency: 'USD' };

/** The tokens of the real networks, at their real addresses. A test compares them with the registry of networks. */
export const TOKENS = {
  base: [
    { ...usdc, address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
    { ...eurc, address: '0x808456652fdb597867f38412077A9182bf77359F' },
  ],
  baseLive: [
    { ...usdc, address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
    { ...eurc, address: '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42' },
    { ...usdt, address: '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2' },
  ],
} as const satisfies Record<string, readonly Token[]>;

/** anvil creates ten accounts; the last one owns the tokens and makes no payments. */
const WALLETS = 8;
const EACH = 1_000_000_000_000n; // a million, 6 decimals

const artifact = z.object({
  abi: z.array(z.record(z.string(), z.unknown())),
  bytecode: z.string().regex(/^0x[0-9a-f]+$/),
});

function account(index: number): { address: string; privateKey: string } {
  const { address, privateKey } = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(MNEMONIC), `m/44'/60'/0'/0/${index}`);
  return { address, privateKey };
}

/** The funded accounts of a local chain, for demos and tests. */
export const wallets = (): { address: string; privateKey: string }[] =>
  Array.from({ length: WALLETS }, (_, index) => account(index));

/** Creates the token contracts that are missing, at their addresses, and funds the wallets. */
export async function placeTokens(url: string, tokens: readonly Token[]): Promise<void> {
  const { abi, bytecode } = artifact.parse(
    JSON.parse(await readFile(createRequire(import.meta.url).resolve('@pf/testing/contracts/Stablecoin.json'), 'utf8')),
  );
  const contract = new Interface(abi);
  const owner = account(9).address;
  const holders = wallets().map(({ address }) => address);
  const call = async (to: string, name: string): Promise<unknown> =>
    contract.decodeFunctionResult(
      name,
      String(await callRpc(url, 'eth_call', [{ to, data: contract.encodeFunctionData(name) }, 'latest'])),
    )[0];

  const missing: Token[] = [];
  for (const token of tokens) {
    if ((await callRpc(url, 'eth_getCode', [token.address, 'latest'])) !== bytecode)
      await callRpc(url, 'anvil_setCode', [token.address, bytecode]);
    if (BigInt(String(await call(token.address, 'owner'))) === 0n) missing.push(token);
  }
  if (missing.length === 0) return;
  for (const { address, name, symbol, currency } of missing) {
    const data = contract.encodeFunctionData('initialize', [name, symbol, currency, owner, holders, EACH]);
    await callRpc(url, 'eth_sendTransaction', [{ from: owner, to: address, data, gas: '0x1e8480' }]);
  }
  await callRpc(url, 'evm_mine');
  const placed = async (): Promise<boolean> =>
    (await Promise.all(missing.map(({ address }) => call(address, 'symbol')))).every(
      (symbol, i) => symbol === missing[i]?.symbol,
    );
  if (!(await eventually(placed, 10_000))) throw new Error(`The tokens could not be created on ${url}.`);
}
