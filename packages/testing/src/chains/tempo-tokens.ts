import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { decodeFunctionResult, encodeFunctionData, type Hex, keccak256, parseAbi, toHex } from 'viem';
import { z } from 'zod';
import { nodeRpc } from './node-rpc.ts';
import { until } from '../until.ts';

/** The bridged USDC of the testnet (USDC.e). */
const USDC = '0x20C0000000000000000000009e8d7eB59B783726';
const PATH_USD = '0x20C0000000000000000000000000000000000000';
const FACTORY = '0x20Fc000000000000000000000000000000000000';
const FEE_MANAGER = '0xfeEC000000000000000000000000000000000000';

/**
 * A million for each wallet, 6 decimals. pathUSD, AlphaUSD, BetaUSD and ThetaUSD the chain gives them by itself, far
 * more of each.
 */
const EACH = 1_000_000_000_000n;
/**
 * What the fee manager may exchange for pathUSD, so that fees can be paid in USDC: ten thousand, as the chain has it
 * for AlphaUSD.
 */
const LIQUIDITY = 10_000_000_000n;

const tip20 = parseAbi([
  'function ISSUER_ROLE() view returns (bytes32)',
  'function grantRole(bytes32 role, address account)',
  'function mint(address to, uint256 amount)',
  'function totalSupply() view returns (uint256)',
]);
const factory = parseAbi([
  // Name, symbol, currency, quote token, admin, salt.
  'function createToken(string, string, string, address, address, bytes32) returns (address)',
  'function getTokenAddress(address sender, bytes32 salt) view returns (address)',
]);
const feeAmm = parseAbi([
  'function mint(address userToken, address validatorToken, uint256 amount, address to) returns (uint256)',
]);

const hex = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value));
const accounts = z.array(hex).min(10);
const receipt = z.object({ status: z.string() });
const dump = z.object({
  accounts: z.record(z.string(), z.object({ code: z.string(), storage: z.record(z.string(), z.string()) })),
});

/**
 * Puts USDC at its testnet address on a local Tempo chain (anvil with `--network tempo`), a million of it into each of
 * anvil's accounts but the last, and makes it good for fees. Where that has been done it does nothing, so it can be
 * called after every start; the tokens survive a restart with `--state`.
 *
 * TIP-20 tokens are a part of the chain, and their factory alone decides their addresses. So it makes a USDC of our
 * own, and what it wrote for that one is written a second time at the address wanted; from then on the chain itself
 * does all.
 * @throws Error when the chain can't be reached or refuses a step
 */
export async function placeTempoTokens(url: string): Promise<void> {
  const rpc = nodeRpc(url);
  // The last of anvil's accounts owns the token and pays no one.
  const all = accounts.parse(await rpc('eth_accounts'));
  const [holders, owner] = [all.slice(0, -1), all.at(-1) ?? '0x'];
  const call = async (to: Hex, data: Hex): Promise<Hex> => hex.parse(await rpc('eth_call', { to, data }, 'latest'));
  const isAbsent = async (address: Hex): Promise<boolean> => (await rpc('eth_getCode', address, 'latest')) === '0x';
  const ours = (to: Hex, data: Hex): object => ({ from: owner, to, data, gas: toHex(2_000_000) });
  /** All in one block, so that a stop in the middle leaves nothing half done. */
  async function mined(transactions: readonly object[]): Promise<void> {
    const hashes: unknown[] = [];
    for (const one of transactions) hashes.push(await rpc('eth_sendTransaction', one));
    await rpc('evm_mine');
    for (const hash of hashes) {
      const { status } = receipt.parse(await until(`${url} to mine`, () => rpc('eth_getTransactionReceipt', hash)));
      if (status !== '0x1') throw new Error(`USDC could not be placed on ${url}: ${String(hash)} failed.`);
    }
  }

  if (await isAbsent(USDC)) {
    const salt = keccak256(toHex('USDC'));
    const model = decodeFunctionResult({
      abi: factory,
      functionName: 'getTokenAddress',
      data: await call(
        FACTORY,
        encodeFunctionData({ abi: factory, functionName: 'getTokenAddress', args: [owner, salt] }),
      ),
    });
    if (await isAbsent(model))
      await mined([
        ours(
          FACTORY,
          encodeFunctionData({
            abi: factory,
            functionName: 'createToken',
            args: ['USDC', 'USDC', 'USD', PATH_USD, owner, salt],
          }),
        ),
      ]);
    const state = await promisify(gunzip)(Buffer.from((await rpc<string>('anvil_dumpState')).slice(2), 'hex'));
    const made = dump.parse(JSON.parse(state.toString())).accounts[model.toLowerCase()];
    if (made === undefined) throw new Error(`The factory made no token on ${url}.`);
    for (const [slot, value] of Object.entries(made.storage)) await rpc('anvil_setStorageAt', USDC, slot, value);
    // The code last: with it the token is there.
    await rpc('anvil_setCode', USDC, made.code);
  }
  if (BigInt(await call(USDC, encodeFunctionData({ abi: tip20, functionName: 'totalSupply' }))) > 0n) return;
  const issuer = await call(USDC, encodeFunctionData({ abi: tip20, functionName: 'ISSUER_ROLE' }));
  await mined([
    ours(USDC, encodeFunctionData({ abi: tip20, functionName: 'grantRole', args: [issuer, owner] })),
    ...holders.map((holder) =>
      ours(USDC, encodeFunctionData({ abi: tip20, functionName: 'mint', args: [holder, EACH] })),
    ),
    ours(
      FEE_MANAGER,
      encodeFunctionData({ abi: feeAmm, functionName: 'mint', args: [USDC, PATH_USD, LIQUIDITY, owner] }),
    ),
  ]);
}
