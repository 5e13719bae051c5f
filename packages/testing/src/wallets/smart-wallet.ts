import { createRequire } from 'node:module';
import {
  type Address,
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  getAddress,
  type Hex,
  hexToBigInt,
  parseEther,
  slice,
  toHex,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import type { Anvil } from '../chains/anvil.ts';
import { type Contract, readContract } from '../chains/contract.ts';

/** The versions of ERC-4337's EntryPoint: its address on every chain, and the package with its compiled contracts. */
export const ENTRY_POINTS = {
  '0.6': { address: '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789', from: '@entry-point/v6' },
  '0.7': { address: '0x0000000071727De22E5E9d8BAf0edAc6f37da032', from: '@entry-point/v7' },
  '0.8': { address: '0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108', from: '@entry-point/v8' },
  '0.9': { address: '0x433709009B8330FDa32311DF1C2AFA402eD8D009', from: '@entry-point/v9' },
} as const;
export type EntryPointVersion = keyof typeof ENTRY_POINTS;

/** A call that an account is to make, as `wallet_sendCalls` takes it. */
export interface SmartCall {
  readonly to: string;
  readonly data: Hex;
  readonly value?: bigint;
}

/** A signed user operation, in the fields of its EntryPoint's version. */
export type UserOperation = Readonly<Record<string, unknown>> & { readonly sender: Address; readonly callData: Hex };

/** A smart account (SimpleAccount of the ERC-4337 authors) whose owner signs user operations. */
export interface SmartWallet {
  readonly address: Address;
  /** The calldata with which the account makes these calls: `execute` of one, `executeBatch` of several. */
  calldataOf(calls: readonly SmartCall[]): Hex;
  /**
   * A signed user operation.
   * @param change other fields than usual, before it is signed
   * @param lane operations of one account in one bundle have nonces of different lanes
   */
  operation(callData: Hex, change?: Readonly<Record<string, Hex>>, lane?: bigint): Promise<UserOperation>;
}

/** A Base chain whose accounts are open to its node. */
type OpenChain = Pick<Anvil, 'mine' | 'rpc' | 'wallets'>;

const artifact = (version: EntryPointVersion, name: string): Contract =>
  readContract(createRequire(import.meta.url).resolve(`${ENTRY_POINTS[version].from}/artifacts/${name}.json`));

/** The code that a contract's constructor leaves, without making a transaction. */
const deployedCode = (chain: OpenChain, { bytecode }: Contract, args: Hex = '0x'): Promise<Hex> =>
  chain.rpc<Hex>(
    'eth_call',
    { from: bundlerOf(chain), data: concat([bytecode, args]), gas: toHex(15_000_000) },
    'latest',
  );

/** Puts the EntryPoint at its address. */
export async function installEntryPoint(chain: OpenChain, version: EntryPointVersion): Promise<void> {
  const code = await deployedCode(chain, artifact(version, 'EntryPoint'));
  await chain.rpc('anvil_setCode', ENTRY_POINTS[version].address, code);
}

/** Gas for a few transfers; it costs nothing, so that no account needs a deposit. */
const GAS = { call: 1_000_000n, verification: 500_000n, before: 50_000n } as const;
const pair = (high: bigint, low: bigint): Hex => toHex((high << 128n) | low, { size: 32 });

/** Puts a new account on the chain, for which this EntryPoint's operations act. Mines a block. */
export async function newSmartWallet(chain: OpenChain, version: EntryPointVersion): Promise<SmartWallet> {
  const entryPoint = ENTRY_POINTS[version].address;
  const [account, entryPointAbi] = [artifact(version, 'SimpleAccount'), artifact(version, 'EntryPoint').abi];
  const owner = privateKeyToAccount(generatePrivateKey());
  const address = privateKeyToAddress(generatePrivateKey());
  const immutable = encodeAbiParameters([{ type: 'address' }], [entryPoint]);
  await chain.rpc('anvil_setCode', address, await deployedCode(chain, account, immutable));
  await sendAs(chain, address, encodeFunctionData({ ...account, functionName: 'initialize', args: [owner.address] }));
  const ask = async (functionName: string, args: readonly unknown[]): Promise<Hex> =>
    chain.rpc<Hex>(
      'eth_call',
      { to: entryPoint, data: encodeFunctionData({ abi: entryPointAbi, functionName, args }) },
      'latest',
    );
  const execute = (functionName: string, args: readonly unknown[]): Hex =>
    encodeFunctionData({ ...account, functionName, args });
  const batch = (calls: readonly SmartCall[]): readonly unknown[] => {
    const [targets, datas] = [calls.map(({ to }) => to), calls.map(({ data }) => data)];
    switch (version) {
      case '0.6':
        return [targets, datas];
      case '0.7':
        return [targets, calls.map(({ value = 0n }) => value), datas];
      case '0.8':
      case '0.9':
        return [calls.map(({ to: target, value = 0n, data }) => ({ target, value, data }))];
    }
  };
  return {
    address,
    calldataOf(calls) {
      const [only, another] = calls;
      return only !== undefined && another === undefined
        ? execute('execute', [only.to, only.value ?? 0n, only.data])
        : execute('executeBatch', batch(calls));
    },
    async operation(callData, change = {}, lane = 0n) {
      const nonce = hexToBigInt(await ask('getNonce', [address, lane]));
      const limits =
        version === '0.6'
          ? {
              callGasLimit: GAS.call,
              verificationGasLimit: GAS.verification,
              maxFeePerGas: 0n,
              maxPriorityFeePerGas: 0n,
            }
          : { accountGasLimits: pair(GAS.verification, GAS.call), gasFees: pair(0n, 0n) };
      const operation = {
        sender: address,
        nonce,
        initCode: '0x',
        callData,
        ...limits,
        preVerificationGas: GAS.before,
        paymasterAndData: '0x',
        signature: '0x',
        ...change,
      } as const;
      const hash = await ask('getUserOpHash', [operation]);
      // From version 0.8 on the hash is EIP-712's, and signed as it is.
      const isTyped = version === '0.8' || version === '0.9';
      const signature = isTyped ? await owner.sign({ hash }) : await owner.signMessage({ message: { raw: hash } });
      return { ...operation, signature };
    },
  };
}

/** An account that its first operation deploys: the address that it will have, and how. */
export interface UndeployedAccount {
  readonly address: Address;
  readonly factory: Address;
  readonly factoryData: Hex;
}

/** Puts the factory of such accounts on the chain, and names an account of a new owner. Mines a block. */
export async function newUndeployedAccount(chain: OpenChain, version: PaidVersion): Promise<UndeployedAccount> {
  const { abi, bytecode } = artifact(version, 'SimpleAccountFactory');
  const entryPoint = encodeAbiParameters([{ type: 'address' }], [ENTRY_POINTS[version].address]);
  const creation = { from: bundlerOf(chain), data: concat([bytecode, entryPoint]), gas: toHex(6_000_000) };
  const hash = await chain.rpc<Hex>('eth_sendTransaction', creation);
  await chain.mine();
  const { contractAddress: factory } = await chain.rpc<{ contractAddress: Address }>('eth_getTransactionReceipt', hash);
  const args = [privateKeyToAddress(generatePrivateKey()), 0n] as const;
  const word = await chain.rpc<Hex>(
    'eth_call',
    { to: factory, data: encodeFunctionData({ abi, functionName: 'getAddress', args }) },
    'latest',
  );
  return {
    address: getAddress(slice(word, 12)),
    factory,
    factoryData: encodeFunctionData({ abi, functionName: 'createAccount', args }),
  };
}

/** The versions whose package has a paymaster. */
export type PaidVersion = '0.6' | '0.7';

/**
 * Puts a paymaster (VerifyingPaymaster of the ERC-4337 authors) on the chain, with a deposit at the EntryPoint: it pays
 * for what this account signs. Mines a block.
 */
export async function installPaymaster(chain: OpenChain, version: PaidVersion, signer: string): Promise<Address> {
  const entryPoint = ENTRY_POINTS[version].address;
  const paymaster = privateKeyToAddress(generatePrivateKey());
  const args = encodeAbiParameters([{ type: 'address' }, { type: 'address' }], [entryPoint, signer as Address]);
  await chain.rpc('anvil_setCode', paymaster, await deployedCode(chain, artifact(version, 'VerifyingPaymaster'), args));
  const { abi } = artifact(version, 'EntryPoint');
  const data = encodeFunctionData({ abi, functionName: 'depositTo', args: [paymaster] });
  await sendAs(chain, entryPoint, data, bundlerOf(chain), parseEther('1'));
  return paymaster;
}

/** What an operation of a wallet costs at most: 0.1 gwei for each gas. */
const GAS_PRICE = 100_000_000n;
/** Gas for one transfer. */
const TRANSFER_GAS = 150_000n;

/** An operation whose gas costs something, and its fields as paymaster services take them. */
async function pricedOperation(wallet: SmartWallet, version: PaidVersion, callData: Hex, paymasterAndData: Hex = '0x') {
  const fees =
    version === '0.6'
      ? {
          callGasLimit: toHex(TRANSFER_GAS),
          maxFeePerGas: toHex(GAS_PRICE),
          maxPriorityFeePerGas: toHex(GAS_PRICE),
        }
      : { accountGasLimits: pair(GAS.verification, TRANSFER_GAS), gasFees: pair(GAS_PRICE, GAS_PRICE) };
  const operation = await wallet.operation(callData, { ...fees, paymasterAndData });
  const fields = {
    sender: wallet.address,
    nonce: toHex(operation['nonce'] as bigint),
    callData,
    ...(version === '0.6' && { initCode: '0x' }),
    callGasLimit: toHex(TRANSFER_GAS),
    verificationGasLimit: toHex(GAS.verification),
    preVerificationGas: toHex(GAS.before),
    maxFeePerGas: toHex(GAS_PRICE),
    maxPriorityFeePerGas: toHex(GAS_PRICE),
    signature: operation['signature'],
  };
  return { operation, fields };
}

/** What a paymaster service answers to a wallet. */
export interface PaymasterAnswer {
  readonly result?: Readonly<Record<string, Hex>>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Asks a paymaster service as wallets do (ERC-7677). */
export async function askPaymaster(url: string, method: string, params: readonly unknown[]): Promise<PaymasterAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return (await response.json()) as PaymasterAnswer;
}

/** A service answered no promise. */
export class PaymasterRefusedError extends Error {
  override readonly name = 'PaymasterRefusedError';
}

/**
 * An operation whose gas a paymaster pays, made as wallets do: what it would cost, then the promise, then the
 * signature.
 * @param url the paymaster service
 * @throws PaymasterRefusedError
 */
export async function paidOperation(
  wallet: SmartWallet,
  version: PaidVersion,
  chainId: number,
  callData: Hex,
  url: string,
): Promise<UserOperation> {
  const { fields } = await pricedOperation(wallet, version, callData);
  const ask = async (method: string, more: object = {}): Promise<Readonly<Record<string, Hex>>> => {
    const params = [{ ...fields, ...more }, ENTRY_POINTS[version].address, toHex(chainId), {}];
    const { result, error } = await askPaymaster(url, method, params);
    if (result === undefined) throw new PaymasterRefusedError(error?.message);
    return result;
  };
  const stub = await ask('pm_getPaymasterStubData');
  const { paymasterVerificationGasLimit = '0x0', paymasterPostOpGasLimit = '0x0' } = stub;
  const limits = version === '0.6' ? {} : { paymasterVerificationGasLimit, paymasterPostOpGasLimit };
  const { paymasterAndData, paymaster = '0x', paymasterData = '0x' } = await ask('pm_getPaymasterData', limits);
  const packed =
    paymasterAndData ??
    concat([
      paymaster,
      pair(hexToBigInt(paymasterVerificationGasLimit), hexToBigInt(paymasterPostOpGasLimit)),
      paymasterData,
    ]);
  return (await pricedOperation(wallet, version, callData, packed)).operation;
}

/** The calldata of a bundle. */
export const bundleOf = (version: EntryPointVersion, operations: readonly UserOperation[], bundler: string): Hex =>
  encodeFunctionData({
    ...artifact(version, 'EntryPoint'),
    functionName: 'handleOps',
    args: [operations, bundler],
  });

/** Sends operations as a bundler does, and mines a block; resolves with the transaction's hash. */
export const bundle = (
  chain: OpenChain,
  version: EntryPointVersion,
  operations: readonly UserOperation[],
): Promise<Hex> => sendAs(chain, ENTRY_POINTS[version].address, bundleOf(version, operations, bundlerOf(chain)));

const bundlerOf = ({ wallets }: OpenChain): string => {
  const bundler = wallets.at(-1);
  if (bundler === undefined) throw new Error('anvil has wallets');
  return bundler.address;
};

/** Sends calldata to a contract, from an account that has nothing to do with the payment, and mines a block. */
export async function sendAs(
  chain: OpenChain,
  to: string,
  data: Hex,
  from = bundlerOf(chain),
  value = 0n,
): Promise<Hex> {
  const transaction = { from, to, data, value: toHex(value), gas: toHex(6_000_000) };
  const hash = await chain.rpc<Hex>('eth_sendTransaction', transaction);
  await chain.mine();
  return hash;
}
