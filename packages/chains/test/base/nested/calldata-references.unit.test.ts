import { describe, expect, it } from '@jest/globals';
import type { Address, Reference } from '@pf/domain';
import { concat, encodeFunctionData, type Hex, pad } from 'viem';
import { entryPoint07Abi } from 'viem/account-abstraction';
import { referencesByCalldata } from '../../../src/base/nested/calldata-references.ts';
import type { References } from '../../../src/base/nested/references.ts';
import { terms } from '../payments.ts';
import {
  ACCOUNT,
  type Event,
  execute,
  executeBatch,
  logAt,
  payment,
  readChanged,
  STRANGER,
  topic,
  transferred,
  uint,
  USDC,
} from './written.ts';

const ENTRY_POINT = '0x0000000071727De22E5E9d8BAf0edAc6f37da032' as Address;
const other = `0x${'0e'.repeat(32)}` as Reference;

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

  it('is known of 1,024 calls of all operations, of which each has its share', () => {
    const bundle = (operations: number, calls: number): References => {
      const callData = executeBatch([
        [USDC, payment()],
        ...Array.from({ length: calls - 1 }, () => [STRANGER, '0x'] as const),
      ]);
      const nonces = Array.from({ length: operations }, (_, nonce) => BigInt(nonce));
      return explained(
        handleOps(nonces.map((nonce) => ({ nonce, callData }))),
        nonces.flatMap((nonce) => [transferred(), ended({ nonce })]),
      );
    };
    expect(bundle(64, 16).size).toBe(64);
    expect(bundle(64, 17)).toEqual(nothing);
    expect(bundle(4, 256).size).toBe(4);
    expect(bundle(5, 205)).toEqual(nothing);
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
  it('never throws, whatever is changed in it, and names no reference that is not in it', () => {
    const bundle = handleOps([
      { callData: execute(USDC, payment()) },
      { callData: executeBatch([[USDC, payment(other)]]) },
    ]);
    readChanged(bundle, (written) => {
      const input = `0x${written.toString('hex')}` as const;
      for (const to of [ENTRY_POINT, ACCOUNT]) {
        const found = explained(input, [transferred(), ended(), transferred(), ended()], to, ACCOUNT);
        for (const reference of found.values()) if (reference !== null) expect(input).toContain(reference.slice(2));
      }
    });
  });
});
