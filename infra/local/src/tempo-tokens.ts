import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { id, Interface } from 'ethers';
import { z } from 'zod';
import { rpc } from './rpc.ts';
import { wallets } from './tokens.ts';
import { eventually } from './wait.ts';

/** What wallets hold on this chain; the service knows the same. USDC is the testnet's bridged one (USDC.e). */
export const TEMPO_TOKENS = [
  { symbol: 'pathUSD', address: '0x20C0000000000000000000000000000000000000' },
  { symbol: 'AlphaUSD', address: '0x20C0000000000000000000000000000000000001' },
  { symbol: 'BetaUSD', address: '0x20C0000000000000000000000000000000000002' },
  { symbol: 'ThetaUSD', address: '0x20C0000000000000000000000000000000000003' },
  { symbol: 'USDC', address: '0x20C0000000000000000000009e8d7eB59B783726' },
] as const;

const [{ address: PATH_USD }, , , , { address: USDC }] = TEMPO_TOKENS;
const FACTORY = '0x20Fc000000000000000000000000000000000000';
const FEE_MANAGER = '0xfeEC000000000000000000000000000000000000';

/** A million for each wallet, 6 decimals. pathUSD, AlphaUSD, BetaUSD and ThetaUSD the chain gives them by itself, far more of each. */
const EACH = 1_000_000_000_000n;
/** What the fee manager may exchange for pathUSD, so that fees can be paid in USDC: ten thousand, as the chain has it for AlphaUSD. */
const LIQUIDITY = 10_000_000_000n;

const tip20 = new Interface([
  'function ISSUER_ROLE() view returns (bytes32)',
  'function grantRole(bytes32 role, address account)',
  'function mint(address to, uint256 amount)',
  'function totalSupply() view returns (uint256)',
  'function symbol() view returns (string)',
]);
const factory = new Interface([
  'function createToken(string name, string symbol, string currency, address quoteToken, address admin, bytes32 salt) returns (address)',
  'function getTokenAddress(address sender, bytes32 salt) view returns (address)',
]);
const feeManager = new Interface(['function mint(address userToken, address validatorToken, uint256 amountValidatorToken, address to) returns (uint256)']);

const accounts = z.array(z.string()).min(10);
const receipt = z.object({ status: z.literal('0x1') });
const dump = z.object({ accounts: z.record(z.string(), z.object({ code: z.string(), storage: z.record(z.string(), z.string()) })) });

/**
 * Puts USDC at its testnet address on a local Tempo chain (anvil with `--network tempo`), a million of it into each of the
 * usual wallets, and makes it good for fees. Does nothing where that has been done: to be called after every start, like
 * placeTokens; the tokens survive a restart with `--state`.
 *
 * TIP-20 tokens are a part of the chain, and their factory alone decides their addresses. So it makes a USDC of our own,
 * and what it wrote for that one is written a second time at the address wanted; from then on the chain itself does all.
 * @throws Error when the chain can't be reached or refuses a step
 */
export async function placeTempoTokens(url: string): Promise<void> {
  // Of anvil's ten accounts the last one owns the token and pays nobody.
  const [owner = ''] = accounts.parse(await rpc(url, 'eth_accounts')).slice(9);
  const call = async (to: string, contract: Interface, name: string, args: readonly unknown[] = []): Promise<unknown> =>
    contract.decodeFunctionResult(name, String(await rpc(url, 'eth_call', [{ to, data: contract.encodeFunctionData(name, args) }, 'latest'])))[0];
  const transaction = (to: string, contract: Interface, name: string, args: readonly unknown[]): object => ({ from: owner, to, data: contract.encodeFunctionData(name, args), gas: '0x1e8480' });
  /** All in one block, so that a stop in the middle leaves nothing half done. */
  async function mined(transactions: readonly object[]): Promise<void> {
    const hashes: unknown[] = [];
    for (const one of transactions) hashes.push(await rpc(url, 'eth_sendTransaction', [one]));
    await rpc(url, 'evm_mine');
    for (const hash of hashes) {
      if (!(await eventually(async () => (await rpc(url, 'eth_getTransactionReceipt', [hash])) !== null, 10_000))) throw new Error(`${url} does not mine.`);
      if (!receipt.safeParse(await rpc(url, 'eth_getTransactionReceipt', [hash])).success) throw new Error(`USDC could not be placed on ${url}: ${String(hash)} failed.`);
    }
  }

  if ((await rpc(url, 'eth_getCode', [USDC, 'latest'])) === '0x') {
    const salt = id('USDC');
    const model = String(await call(FACTORY, factory, 'getTokenAddress', [owner, salt])).toLowerCase();
    if ((await rpc(url, 'eth_getCode', [model, 'latest'])) === '0x') {
      await mined([transaction(FACTORY, factory, 'createToken', ['USDC', 'USDC', 'USD', PATH_USD, owner, salt])]);
    }
    const state = await promisify(gunzip)(Buffer.from(String(await rpc(url, 'anvil_dumpState')).slice(2), 'hex'));
    const { code, storage } = dump.parse(JSON.parse(state.toString())).accounts[model] ?? { code: '0x', storage: {} };
    for (const [slot, value] of Object.entries(storage)) await rpc(url, 'anvil_setStorageAt', [USDC, slot, value]);
    // The code last: with it the token is there.
    await rpc(url, 'anvil_setCode', [USDC, code]);
  }
  if ((await call(USDC, tip20, 'totalSupply')) !== 0n) return;
  await mined([
    transaction(USDC, tip20, 'grantRole', [await call(USDC, tip20, 'ISSUER_ROLE'), owner]),
    ...wallets().map(({ address }) => transaction(USDC, tip20, 'mint', [address, EACH])),
    transaction(FEE_MANAGER, feeManager, 'mint', [USDC, PATH_USD, LIQUIDITY, owner]),
  ]);
}
