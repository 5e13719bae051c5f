import { describe, expect, it } from '@jest/globals';
import type { Address, TransactionHash } from '@pf/domain';
import type { RpcCall, RpcNode, RpcPool } from '@pf/rpc';
import { type Hex, keccak256, pad, toHex } from 'viem';
import { encodePayment } from '../../src/base/calldata.ts';
import { TRANSFER } from '../../src/base/observe/landings.ts';
import { findUnnamed } from '../../src/base/unnamed-payment.ts';
import { verifyNested } from '../../src/base/verify-nested.ts';
import type { Receipt } from '../../src/evm/calls.ts';
import { networkOf } from '../../src/index.ts';
import { CHAIN, good, signed, terms } from './payments.ts';

const ACCOUNT = '0x2C82Ea4567b5a64A910e6BCE4B0158e483D1d5E6' as Address;
const USDC = terms.tokenAddress as string as Address;
const BLOCK = `0x${'bb'.repeat(32)}`;
const NETWORK = networkOf(CHAIN);
const topic = (address: string): Hex => pad(address.toLowerCase() as Hex);
const payment = encodePayment(terms.requestor, terms.amount, terms.reference) as Hex;
/** The same without its reference. */
const unnamed = payment.slice(0, -64) as Hex;

/** A transaction of an account that pays by this call of the token, and is sent some back by the requestor's. */
async function paying(input: Hex, sentBack: bigint) {
  const raw = await signed({ ...good, to: ACCOUNT as string as Hex, data: '0x12345678' });
  const hash = keccak256(raw) as string as TransactionHash;
  const moved = [
    [ACCOUNT, terms.requestor, terms.amount],
    [terms.requestor, ACCOUNT, sentBack],
  ] as const;
  const logs = moved.map(([from, to, amount], index) => ({
    address: USDC,
    topics: [TRANSFER, topic(from), topic(to)],
    data: toHex(amount, { size: 32 }),
    blockNumber: 1n,
    blockHash: BLOCK,
    transactionHash: hash,
    logIndex: BigInt(index),
    removed: false,
  }));
  const call = { type: 'CALL', from: ACCOUNT, to: USDC };
  const trace = {
    ...call,
    to: ACCOUNT,
    input: '0x12345678',
    calls: [
      { ...call, input, logs: [logs[0]] },
      // A splitter's, a sweeper's, or that of an allowance.
      { ...call, input: '0x23b872dd', logs: [logs[1]] },
    ],
  };
  const block = { number: 9n, hash: BLOCK, parentHash: BLOCK, timestamp: 100n, baseFeePerGas: 0n };
  const asked: string[] = [];
  const respond = (call: RpcCall<unknown>): unknown => {
    asked.push(call.method);
    return call.method === 'debug_traceTransaction' ? call.parse(trace) : block;
  };
  const node = {
    name: 'node',
    call: (call: RpcCall<unknown>) => Promise.resolve(respond(call)),
  } as unknown as RpcNode;
  const pool = {
    async *attempts(work: (node: RpcNode) => Promise<unknown>) {
      yield { kind: 'completed', value: await work(node) };
    },
    batch: (calls: readonly RpcCall<unknown>[]) => Promise.resolve(calls.map(respond)),
  } as unknown as RpcPool;
  const receipt = { transactionHash: hash, status: 1n, blockNumber: 1n, blockHash: BLOCK, from: ACCOUNT, to: ACCOUNT };
  return { pool, asked, transaction: { hash, raw }, receipt: { ...receipt, logs } as unknown as Receipt };
}

describe('a payment that names no intent', () => {
  const found = async (sentBack: bigint) => {
    const { pool, transaction, receipt } = await paying(unnamed, sentBack);
    return (await findUnnamed(pool, NETWORK, transaction, receipt, terms, ACCOUNT))?.transfer.amount ?? null;
  };

  it('is told of as what its requestor has gained in its transaction, and not where that is nothing', async () => {
    expect(await found(0n)).toBe(terms.amount);
    expect(await found(1n)).toBe(terms.amount - 1n);
    expect(await found(terms.amount)).toBeNull();
  });

  it('differs in its reference and is told of, and its calls are read once', async () => {
    const { pool, asked, transaction, receipt } = await paying(unnamed, 0n);
    expect(await verifyNested(pool, NETWORK, transaction, receipt, terms, ACCOUNT)).toMatchObject({
      kind: 'mismatch',
      differs: { reference: { expected: terms.reference, actual: null } },
      unnamed: { transfer: { amount: terms.amount } },
    });
    expect(asked.filter((method) => method === 'debug_traceTransaction')).toHaveLength(1);
  });
});

describe('a payment by an account of which the requestor sends some back in its transaction', () => {
  const verified = async (sentBack: bigint) => {
    const { pool, transaction, receipt } = await paying(payment, sentBack);
    return verifyNested(pool, NETWORK, transaction, receipt, terms, ACCOUNT);
  };

  it('is not verified, and differs in its amount', async () => {
    expect(await verified(0n)).toMatchObject({ kind: 'verified' });
    const differs = (actual: bigint) => ({
      kind: 'mismatch',
      differs: { amount: { expected: terms.amount.toString(), actual: actual.toString() } },
    });
    expect(await verified(1n)).toEqual(differs(terms.amount - 1n));
    expect(await verified(terms.amount)).toEqual(differs(0n));
  });
});
