import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { decodeFunctionResult, encodeFunctionData, type Hex, keccak256, parseAbi, toHex } from 'viem';
import { z } from 'zod';
import { nodeRpc } from './node-rpc.ts';
import { until } from '../until.ts';

/** The testnet's bridged USDC, which the API calls USDC.e. */
const USDC = '0x20C0000000000000000000009e8d7eB59B783726';
const PATH_USD = '0x20C0000000000000000000000000000000000000';
const FACTORY = '0x20Fc000000000000000000000000000000000000';
const FEE_MANAGER = '0xfeEC000000000000000000000000000000000000';

/**
 * A million for each wallet (6 decimals). The chain itself funds them with far more pathUSD, AlphaUSD, BetaUSD and
 * ThetaUSD.
 */
const EACH = 1_000_000_000_000n;
/**
 * The fee manager's liquidity from USDC to pathUSD, so that fees can be paid in USDC: ten thousand, as the chain has
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
 * Creates USDC at its testnet address on a local Tempo chain (anvil with `--network tempo`), funds anvil's accounts but
 * the last with a million each, and makes it a fee token. Does nothing when that has been done, so it can be called
 * after every start; the tokens survive a restart with `--state`.
 *
 * TIP-20 tokens are native to the chain, and only their factory chooses their addresses. So the factory creates another
 * USDC, and its storage is copied to the required address; from then on the chain handles both alike.
 * @throws Error when the chain is unreachable or refuses a step
 */
export async function placeTempoTokens(url: string): Promise<void> {
  const rpc = nodeRpc(url);
  // The last of anvil's accounts owns the token and makes no payments.
  const all = accounts.parse(await rpc('eth_accounts'));
  const [holders, owner] = [all.slice(0, -1), all.at(-1) ?? '0x'];
  const call = async (to: Hex, data: Hex): Promise<Hex> => hex.parse(await rpc('eth_call', { to, data }, 'latest'));
  const isAbsent = async (address: Hex): Promise<boolean> => (await rpc('eth_getCode', address, 'latest')) === '0x';
  const ours = (to: Hex, data: Hex): object => ({ from: owner, to, data, gas: toHex(2_000_000) });
  /** All in one block, so that an interruption leaves nothing half done. */
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
    // The code comes last: it marks the token as created.
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
