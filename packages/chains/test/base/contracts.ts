import type { Address } from '@pf/domain';
import { type Anvil, contractNamed } from '@pf/testing/chains';
import { sendAs, type SmartCall } from '@pf/testing/wallets';
import { createWalletClient, encodeAbiParameters, encodeFunctionData, type Hex, http, pad } from 'viem';
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';

/** ERC-7579's modes: one call or a batch; whether a call may fail. ERC-7821: a batch of batches. */
export const MODES = {
  single: pad('0x00', { dir: 'right' }),
  batch: pad('0x01', { dir: 'right' }),
  tryBatch: pad('0x0101', { dir: 'right' }),
  batches: pad('0x01000000000078210002', { dir: 'right' }),
} as const;
const CALLS = [
  {
    type: 'tuple[]',
    components: [
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'data', type: 'bytes' },
    ],
  },
] as const;
const { abi: delegateAbi, bytecode: delegateCode } = contractNamed('Delegate');
const { abi: puppetAbi, bytecode: puppetCode } = contractNamed('Puppet');

export const newAddress = (): Address => privateKeyToAddress(generatePrivateKey()) as string as Address;
/** What a batch executes. */
export const batchOf = (calls: readonly SmartCall[]): Hex =>
  encodeAbiParameters(CALLS, [calls.map(({ to, value = 0n, data }) => ({ to: to as Hex, value, data }))]);
/** The calldata with which a delegated account calls itself. */
export const executeOf = (mode: Hex, executionData: Hex): Hex =>
  encodeFunctionData({ abi: delegateAbi, functionName: 'execute', args: [mode, executionData] });

export interface DelegatedAccount {
  readonly address: Address;
  execute(mode: Hex, executionData: Hex): Promise<Hex>;
}
/** An EOA that delegates to a contract's code. It sends for itself. */
export async function delegatedOn(anvil: Anvil): Promise<DelegatedAccount> {
  const account = privateKeyToAccount(generatePrivateKey());
  const contractAddress = newAddress() as string as Hex;
  await anvil.rpc('anvil_setCode', contractAddress, delegateCode);
  await anvil.rpc('anvil_setBalance', account.address, '0xde0b6b3a7640000');
  const client = createWalletClient({ account, chain: baseSepolia, transport: http(anvil.rpcUrl) });
  return {
    address: account.address as string as Address,
    async execute(mode, executionData) {
      const authorization = await client.signAuthorization({ contractAddress, executor: 'self' });
      const hash = await client.sendTransaction({
        to: account.address,
        data: executeOf(mode, executionData),
        authorizationList: [authorization],
        gas: 1_000_000n,
      });
      await anvil.mine();
      return hash;
    },
  };
}

/** A call that a puppet makes; with topics: a log. */
export interface PuppetStep {
  readonly target?: string;
  readonly data: Hex;
  readonly mayFail?: boolean;
  readonly topics?: readonly Hex[];
}
/** The calldata that makes a puppet learn what it does. */
export const learnOf = (steps: readonly Required<PuppetStep>[]): Hex =>
  encodeFunctionData({
    abi: puppetAbi,
    functionName: 'learn',
    args: [steps.map((step) => ({ ...step, target: step.target as Hex }))],
  });
/** A contract that makes these calls, and logs, whatever it is sent. */
export async function puppetOn(anvil: Anvil, steps: readonly PuppetStep[]): Promise<Address> {
  const address = newAddress();
  await anvil.rpc('anvil_setCode', address, puppetCode);
  const script = steps.map(({ target = address, data, mayFail = false, topics = [] }) => ({
    target,
    data,
    mayFail,
    topics,
  }));
  await sendAs(anvil, address, learnOf(script));
  return address;
}

/** A contract with this runtime code. */
export async function contractOn(anvil: Anvil, code: string): Promise<Address> {
  const address = newAddress();
  await anvil.rpc('anvil_setCode', address, `0x${code}`);
  return address;
}
const push = (bytes: number, value: number): string =>
  `${(0x5f + bytes).toString(16)}${value.toString(16).padStart(2 * bytes, '0')}`;
/** Code that calls a contract with so many zeros; what that does or fails to do changes nothing. */
export const callingCode = (target: string, zeros = 0): string =>
  `60006000${push(3, zeros)}6000600073${target.slice(2)}5af150`;
/** Code that writes so many empty logs. */
export const loggingCode = (times: number): string => `${push(3, times)}5b60006000a0600190038060045750`;
