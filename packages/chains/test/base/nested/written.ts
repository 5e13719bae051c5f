import type { Address, TransactionHash } from '@pf/domain';
import fc from 'fast-check';
import { encodeAbiParameters, encodeFunctionData, type Hex, pad, parseAbi, toHex } from 'viem';
import { encodePayment } from '../../../src/base/calldata.ts';
import { TRANSFER } from '../../../src/base/observe/landings.ts';
import type { Log } from '../../../src/evm/calls.ts';
import { terms } from '../payments.ts';

export const ACCOUNT = '0x2C82Ea4567b5a64A910e6BCE4B0158e483D1d5E6' as Address;
export const STRANGER = '0x65B24af2877bE41081a2f64C0EBb271Df05BAbc8' as Address;
export const USDC = terms.tokenAddress as string as Address;
export const HASH = `0x${'aa'.repeat(32)}` as TransactionHash;

// What accounts are told ----------------------------------------------------------------------------------------------

export const abi = parseAbi([
  'struct Call { address to; uint256 value; bytes data; }',
  'function execute(address to, uint256 value, bytes data)',
  'function execute(bytes32 mode, bytes executionData)',
  'function executeBatch(Call[] calls)',
]);
export const bufferOf = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');
export const payment = (reference = terms.reference): Hex =>
  encodePayment(terms.requestor, terms.amount, reference) as Hex;
export const execute = (to: Address, data: Hex): Hex =>
  encodeFunctionData({ abi, functionName: 'execute', args: [to as string as Hex, 0n, data] });
export const executeBatch = (calls: readonly (readonly [Address, Hex])[]): Hex =>
  encodeFunctionData({
    abi,
    functionName: 'executeBatch',
    args: [calls.map(([to, data]) => ({ to: to as string as Hex, value: 0n, data }))],
  });
/** A payment within calls of the account to itself, and in a batch of batches. */
const PAYMENTS = [
  executeBatch([[ACCOUNT, execute(USDC, payment())]]),
  encodeFunctionData({
    abi,
    functionName: 'execute',
    args: [
      pad('0x0100000000007821000200', { dir: 'right', size: 32 }),
      encodeAbiParameters([{ type: 'bytes[]' }], [[payment()]]),
    ],
  }),
];

/** Has these bytes read as they are written by anyone: with a few of them changed, and cut off. */
export function readChanged(first: Hex, read: (written: Buffer) => void): void {
  const good = [first, ...PAYMENTS].map(bufferOf);
  const change = fc.record({
    of: fc.nat(good.length - 1),
    at: fc.array(fc.tuple(fc.nat(2_000), fc.nat(255)), { maxLength: 6 }),
    end: fc.nat(3_000),
  });
  fc.assert(
    fc.property(change, ({ of, at, end }) => {
      const bytes = Buffer.from(good[of] ?? Buffer.alloc(0));
      for (const [place, value] of at) if (place < bytes.length) bytes[place] = value;
      read(bytes.subarray(0, end));
    }),
    { numRuns: 2_000 },
  );
}

// What tokens log -----------------------------------------------------------------------------------------------------

export const topic = (address: Address): Hex => pad(address.toLowerCase() as Hex);
export const uint = (value: bigint): Hex => toHex(value, { size: 32 });
export const logAt = (index: number, address: Address, topics: readonly string[], data: string): Log => ({
  address,
  topics: [...topics],
  data,
  blockNumber: 1n,
  blockHash: `0x${'bb'.repeat(32)}`,
  transactionHash: HASH,
  logIndex: BigInt(index),
  removed: false,
});
export type Event = (index: number) => Log;
/** A transfer of the amount to the requestor. */
export const transferred =
  (from = ACCOUNT, token = USDC): Event =>
  (index) =>
    logAt(index, token, [TRANSFER, topic(from), topic(terms.requestor)], uint(terms.amount));
