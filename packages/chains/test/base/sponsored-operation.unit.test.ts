import { describe, expect, it } from '@jest/globals';
import type { Address } from '@pf/domain';
import { type RpcCall, type RpcNode, RpcBehindError, RpcRefusedError } from '@pf/rpc';
import { pad, toHex } from 'viem';
import { judgeOperation, type SponsoredOperation } from '../../src/base/sponsored-operation.ts';
import { PacedHead } from '../../src/newest-head.ts';
import { terms, tokenOf } from './payments.ts';

const ACCOUNT = '0x2C82Ea4567b5a64A910e6BCE4B0158e483D1d5E6' as Address;
const ENTRY_POINT = '0x0000000071727De22E5E9d8BAf0edAc6f37da032' as Address;
/** Computed by hand from the EntryPoint's address: the helper that calls factories (SenderCreator). */
const SENDER_CREATOR = '0xEFC2c1444eBCC4Db75e7613d20C6a62fF67A167C';
const GWEI = 1_000_000_000n;
const BASE_FEE = GWEI / 100n;

const operation: SponsoredOperation = {
  sender: ACCOUNT,
  entryPoint: ENTRY_POINT,
  callData: '0x1234',
  deployment: null,
  callGas: 100_000n,
  verificationGas: 200_000n,
  preVerificationGas: 50_000n,
  maxFee: GWEI / 10n,
  maxTip: GWEI / 100n,
};
const topic = (address: string) => pad(address.toLowerCase() as `0x${string}`, { size: 32 });
const transfer = ({ from = String(ACCOUNT), to = String(terms.requestor), amount = terms.amount } = {}) => ({
  address: terms.tokenAddress as string,
  topics: ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', topic(from), topic(to)],
  data: toHex(amount, { size: 32 }),
});
const did = (...logs: readonly object[]) => ({ status: '0x1', logs });

/** A node of which a test says what its simulation shows; null: it has no such method. */
class Node {
  readonly name = 'node';
  readonly plan = {};
  readonly simulated: unknown[] = [];
  readonly #calls: readonly object[] | RpcRefusedError | null;
  readonly #l1Fee: bigint;
  readonly #head: number;

  constructor(calls: readonly object[] | RpcRefusedError | null, { l1Fee = 0n, head = 100 } = {}) {
    this.#calls = calls;
    this.#l1Fee = l1Fee;
    this.#head = head;
  }

  callsIn(): number {
    return Number.POSITIVE_INFINITY;
  }
  call<T>(call: RpcCall<T>): Promise<T> {
    return Promise.resolve(this.#answer(call));
  }
  batch(calls: readonly RpcCall<unknown>[]): Promise<never> {
    return Promise.resolve(calls.map((call) => this.#answer(call)) as never);
  }
  #answer<T>(call: RpcCall<T>): T {
    switch (call.method) {
      case 'eth_feeHistory':
        return call.parse({ oldestBlock: toHex(this.#head), baseFeePerGas: [toHex(BASE_FEE), toHex(BASE_FEE)] });
      case 'eth_call':
        return call.parse(toHex(this.#l1Fee, { size: 32 }));
      case 'eth_simulateV1':
        this.simulated.push(call.params[0]);
        if (this.#calls === null || this.#calls instanceof RpcRefusedError) return this.#calls as T;
        return call.parse([{ number: '0x1', calls: this.#calls }]);
      default:
        throw new Error(`${call.method} is not expected`);
    }
  }
}
const judge = (node: Node, change: Partial<SponsoredOperation> = {}, blocks = new PacedHead(200)) =>
  judgeOperation(node as RpcNode, { ...operation, ...change }, terms, blocks);
const paying = (options?: { readonly l1Fee: bigint }) => new Node([did(transfer())], options);
const rejected = (reason: string) => ({ kind: 'rejected', reason: expect.stringContaining(reason) });

describe('an operation for which a sponsor is to pay', () => {
  it('pays where its simulation logs the transfer of the terms', async () => {
    const node = paying();
    expect(await judge(node)).toEqual({ kind: 'pays' });
    expect(node.simulated).toMatchObject([
      { blockStateCalls: [{ calls: [{ from: ENTRY_POINT, to: ACCOUNT, data: '0x1234', gas: toHex(121_080) }] }] },
    ]);
  });

  it('is simulated after the deployment of its account, as the EntryPoint deploys it', async () => {
    const node = new Node([did(), did(transfer())]);
    expect(await judge(node, { deployment: { factory: ENTRY_POINT, data: '0x56' } })).toEqual({ kind: 'pays' });
    expect(node.simulated).toMatchObject([
      {
        validation: false,
        blockStateCalls: [
          { calls: [{ from: SENDER_CREATOR, to: ENTRY_POINT, data: '0x56', gas: toHex(221_040) }, { to: ACCOUNT }] },
        ],
      },
    ]);
    const failing = new Node([{ status: '0x0', error: { message: 'no' } }, did()]);
    expect(await judge(failing, { deployment: { factory: ENTRY_POINT, data: '0x' } })).toEqual(
      rejected('the deployment of the account would fail: no'),
    );
  });

  it.each([
    ['none', []],
    ['of another amount', [transfer({ amount: terms.amount - 1n })]],
    ['of another account', [transfer({ from: ENTRY_POINT })]],
    ['to another one', [transfer({ to: ENTRY_POINT })]],
    ['of another token', [{ ...transfer(), address: tokenOf('EURC').address }]],
    ['without data', [{ ...transfer(), data: '0x' }]],
  ])('is rejected where the simulation logs another transfer: %s', async (_, logs) => {
    expect(await judge(new Node([did(...logs)]))).toEqual(rejected('its simulation logs no such transfer'));
  });

  it('is rejected where the payment fails, with the reason', async () => {
    const message = 'execution reverted: ERC20: transfer amount exceeds balance';
    const failing = new Node([{ status: '0x0', logs: [], error: { code: 3, message } }]);
    expect(await judge(failing)).toEqual(rejected(`the payment would fail: ${message}`));
    expect(await judge(new Node(new RpcRefusedError('out of gas', -32_000, null)))).toEqual(rejected('out of gas'));
  });

  it('is rejected at a higher price than the chain asks for', async () => {
    const most = 3n * BASE_FEE + GWEI / 2n;
    expect(await judge(paying(), { maxFee: most })).toEqual({ kind: 'pays' });
    expect(await judge(paying(), { maxFee: most + 1n })).toEqual(rejected('a sponsor pays 0.53 gwei at most now'));
    // With what it pays now: its tip, and twice the base fee above it.
    const tip = 2n * BASE_FEE + GWEI / 10n;
    expect(await judge(paying(), { maxFee: most, maxTip: tip })).toEqual({ kind: 'pays' });
    expect(await judge(paying(), { maxFee: most, maxTip: tip + 1n })).toEqual(rejected('maxPriorityFeePerGas'));
    expect(await judge(paying(), { maxFee: most, maxTip: most })).toEqual(rejected('it pays 0.53 gwei for each gas'));
    expect(await judge(paying(), { maxFee: null, maxTip: null })).toEqual({ kind: 'pays' });
  });

  it('is rejected where its bundler takes more than its bytes and the fee of L1', async () => {
    const most = 150_080n;
    expect(await judge(paying(), { preVerificationGas: most })).toEqual({ kind: 'pays' });
    expect(await judge(paying(), { preVerificationGas: most + 1n })).toEqual(rejected('its preVerificationGas is'));
    // A quarter of the L1 fee that bundlers may ask for buys 1,000 gas at this price.
    const l1Fee = (BASE_FEE + GWEI / 1_000n) * 1_000n;
    expect(await judge(paying({ l1Fee }), { preVerificationGas: most + 4_000n })).toEqual({ kind: 'pays' });
    expect(await judge(paying({ l1Fee }), { preVerificationGas: most + 4_001n })).toEqual(rejected('preVerification'));
  });

  it('is not judged by an upstream that cannot simulate, nor rejected by one that lags', async () => {
    expect(await judge(new Node(null))).toBeNull();
    const blocks = new PacedHead(200);
    expect(await judge(paying(), {}, blocks)).toEqual({ kind: 'pays' });
    await expect(judge(new Node([did()], { head: 99 }), {}, blocks)).rejects.toThrow(RpcBehindError);
  });
});
