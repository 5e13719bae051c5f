import { describe, expect, it } from '@jest/globals';
import type { Address, Reference, TransactionHash } from '@pf/domain';
import fc from 'fast-check';
import { concat, encodeAbiParameters, encodeFunctionData, type Hex, pad, parseAbi, toHex } from 'viem';
import { entryPoint07Abi } from 'viem/account-abstraction';
import { encodePayment } from '../../../src/base/calldata.ts';
import { referencesByCalldata } from '../../../src/base/nested/calldata-references.ts';
import type { References } from '../../../src/base/nested/references.ts';
import { TRANSFER } from '../../../src/base/observe/landings.ts';
import type { Log } from '../../../src/evm/calls.ts';
import { terms } from '../payments.ts';

const ENTRY_POINT = '0x0000000071727De22E5E9d8BAf0edAc6f37da032' as Address;
const ACCOUNT = '0x2C82Ea4567b5a64A910e6BCE4B0158e483D1d5E6' as Address;
const STRANGER = '0x65B24af2877bE41081a2f64C0EBb271Df05BAbc8' as Address;
const USDC = terms.tokenAddress as string as Address;
const other = `0x${'0e'.repeat(32)}` as Reference;

const abi = parseAbi([
  'struct Call { address to; uint256 value; bytes data; }',
  'function execute(address to, uint256 value, bytes data)',
  'function execute(bytes32 mode, bytes executionData)',
  'function executeBatch(Call[] calls)',
]);
const bufferOf = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');
const payment = (reference = terms.reference): Hex => encodePayment(terms.requestor, terms.amount, reference) as Hex;
const execute = (to: Address, data: Hex): Hex =>
  encodeFunctionData({ abi, functionName: 'execute', args: [to as string as Hex, 0n, data] });
const executeBatch = (calls: readonly (readonly [Address, Hex])[]): Hex =>
  encodeFunctionData({
    abi,
    functionName: 'executeBatch',
    args: [calls.map(([to, data]) => ({ to: to as string as Hex, value: 0n, data }))],
  });

interface Operation {
  readonly sender?: Address;
  readonly nonce?: bigint;
  readonly callData?: Hex;
  readonly paymasterAndData?: Hex;
  readonly signature?: Hex;
}
const handleOps = (operations: readonly Operation[]): Hex =>
  encodeFunctionData({
    abi: entryPoint07Abi,
    functionName: 'handleOps',
    args: [
      operations.map(
        ({ sender = ACCOUNT, nonce = 0n, callData = '0x', paymasterAndData = '0x', signature = '0x' }) => ({
          sender: sender as string as Hex,
          nonce,
          initCode: '0x' as const,
          callData,
          accountGasLimits: pad('0x'),
          preVerificationGas: 0n,
          gasFees: pad('0x'),
          paymasterAndData,
          signature,
        }),
      ),
      STRANGER as string as Hex,
    ],
  });

const topic = (address: Address): Hex => pad(address.toLowerCase() as Hex);
const uint = (value: bigint): Hex => toHex(value, { size: 32 });
const logAt = (index: number, address: Address, topics: readonly string[], data: string): Log => ({
  address,
  topics: [...topics],
  data,
  blockNumber: 1n,
  blockHash: `0x${'bb'.repeat(32)}`,
  transactionHash: `0x${'aa'.repeat(32)}` as TransactionHash,
  logIndex: BigInt(index),
  removed: false,
});
type Event = (index: number) => Log;
const transferred =
  (from = ACCOUNT, token = USDC): Event =>
  (index) =>
    logAt(index, token, [TRANSFER, topic(from), topic(terms.requestor)], uint(terms.amount));
const ended =
  ({ sender = ACCOUNT, nonce = 0n, success = true, by = ENTRY_POINT } = {}): Event =>
  (index) =>
    logAt(
      index,
      by,
      ['0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f', pad('0x01'), topic(sender), pad('0x')],
      concat([uint(nonce), uint(success ? 1n : 0n), uint(0n), uint(0n)]),
    );
const explained = (input: Hex, events: readonly Event[], to = ENTRY_POINT, from = STRANGER): References =>
  referencesByCalldata(
    { from, to, input },
    events.map((event, index) => event(index)),
  );
const nothing = new Map();

describe('the reference of a transfer in a bundle', () => {
  it('is in the call of the operation whose account made the transfer', () => {
    const input = handleOps([{ callData: execute(USDC, payment()) }]);
    expect(explained(input, [transferred(), ended()])).toEqual(new Map([[0n, terms.reference]]));
  });

  it('is unknown when the events are those of another operation, account or contract', () => {
    const input = handleOps([{ callData: execute(USDC, payment()) }]);
    for (const events of [
      [transferred()],
      [transferred(), ended({ nonce: 1n })],
      [transferred(), ended({ sender: STRANGER })],
      [transferred(), ended({ by: STRANGER })],
      [transferred(), ended(), ended()],
      [transferred(), ended({ success: false })],
      [ended(), transferred()],
      [transferred(STRANGER), ended()],
    ])
      expect(explained(input, events)).toEqual(nothing);
  });

  it('is unknown when another contract than an EntryPoint is called', () => {
    const input = handleOps([{ callData: execute(USDC, payment()) }]);
    expect(explained(input, [transferred(), ended({ by: STRANGER })], STRANGER)).toEqual(nothing);
  });

  it('is not in the paymaster data, the signature or a call to another contract', () => {
    const hidden = { paymasterAndData: payment(), signature: payment() };
    for (const callData of [execute(STRANGER, payment()), '0x', payment()] as const)
      expect(explained(handleOps([{ ...hidden, callData }]), [transferred(), ended()])).toEqual(nothing);
    const plain = payment().slice(0, 2 + 2 * 68) as Hex;
    expect(explained(handleOps([{ ...hidden, callData: execute(USDC, plain) }]), [transferred(), ended()])).toEqual(
      new Map([[0n, null]]),
    );
  });

  it('is unknown when calls and transfers of one kind differ in number', () => {
    const two = handleOps([
      {
        callData: executeBatch([
          [USDC, payment()],
          [USDC, payment(other)],
        ]),
      },
    ]);
    expect(explained(two, [transferred(), ended()])).toEqual(nothing);
    expect(explained(two, [transferred(), transferred(), transferred(), ended()])).toEqual(nothing);
    expect(explained(two, [transferred(), transferred(), ended()])).toEqual(
      new Map([
        [0n, terms.reference],
        [1n, other],
      ]),
    );
  });

  it('belongs to its own operation when one account has several', () => {
    const input = handleOps([
      { callData: execute(USDC, payment()) },
      { nonce: 1n, callData: execute(USDC, payment(other)) },
    ]);
    expect(explained(input, [ended({ success: false }), transferred(), ended({ nonce: 1n })])).toEqual(
      new Map([[1n, other]]),
    );
  });

  it('is of no transfer that another account made meanwhile', () => {
    const stolen = handleOps([{ sender: STRANGER, callData: execute(USDC, payment()) }]);
    expect(explained(stolen, [transferred(ACCOUNT), ended({ sender: STRANGER })])).toEqual(nothing);
    expect(explained(stolen, [transferred(STRANGER), ended({ sender: STRANGER })])).toEqual(
      new Map([[0n, terms.reference]]),
    );
  });

  it('is only in a call of the very token that logged the transfer', () => {
    const input = handleOps([{ callData: execute(USDC, payment()) }]);
    expect(explained(input, [transferred(ACCOUNT, STRANGER), ended()])).toEqual(nothing);
  });
});

describe('the reference of a transfer outside of a bundle', () => {
  const input = execute(USDC, payment());

  it('is in what an account sends to itself', () => {
    expect(explained(input, [transferred()], ACCOUNT, ACCOUNT)).toEqual(new Map([[0n, terms.reference]]));
  });

  it('is not in what another account sends to it: that does not say what its code does', () => {
    expect(explained(input, [transferred()], ACCOUNT, STRANGER)).toEqual(nothing);
  });

  it('is of no transfer from another account than the one that sends to itself', () => {
    expect(explained(input, [transferred(STRANGER)], ACCOUNT, ACCOUNT)).toEqual(nothing);
  });
});

describe('calldata that anyone can write', () => {
  const good = [
    handleOps([{ callData: execute(USDC, payment()) }, { callData: executeBatch([[USDC, payment(other)]]) }]),
    executeBatch([[ACCOUNT, execute(USDC, payment())]]),
    encodeFunctionData({
      abi,
      functionName: 'execute',
      args: [
        pad('0x0100000000007821000200', { dir: 'right', size: 32 }),
        encodeAbiParameters([{ type: 'bytes[]' }], [[payment()]]),
      ],
    }),
  ].map(bufferOf);

  it('never throws, whatever is changed in it, and names no reference that is not in it', () => {
    const change = fc.record({
      of: fc.nat(good.length - 1),
      at: fc.array(fc.tuple(fc.nat(2_000), fc.nat(255)), { maxLength: 6 }),
      end: fc.nat(3_000),
    });
    fc.assert(
      fc.property(change, ({ of, at, end }) => {
        const bytes = Buffer.from(good[of] ?? Buffer.alloc(0));
        for (const [place, value] of at) if (place < bytes.length) bytes[place] = value;
        const input = `0x${bytes.subarray(0, end).toString('hex')}` as const;
        for (const to of [ENTRY_POINT, ACCOUNT]) {
          const found = explained(input, [transferred(), ended(), transferred(), ended()], to, ACCOUNT);
          for (const reference of found.values()) if (reference !== null) expect(input).toContain(reference.slice(2));
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
