import { describe, expect, it } from '@jest/globals';
import type { Address, Reference, TransactionHash } from '@pf/domain';
import { type Attempt, type RpcCall, type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import { type Hex, pad, toHex } from 'viem';
import { encodePayment } from '../../../src/base/calldata.ts';
import { withTrace } from '../../../src/base/nested/explain.ts';
import { TRANSFER } from '../../../src/base/observe/landings.ts';
import { fulfiller, terms } from '../payments.ts';

const written = `0x${'0e'.repeat(32)}` as Reference;
const topics = [TRANSFER, ...[fulfiller, terms.requestor].map((address) => pad(address.toLowerCase() as Hex))];
const log = {
  address: terms.tokenAddress as string as Address,
  topics,
  data: toHex(terms.amount, { size: 32 }) as string,
  blockNumber: 1n,
  blockHash: `0x${'bb'.repeat(32)}`,
  transactionHash: `0x${'aa'.repeat(32)}` as TransactionHash,
  logIndex: 0n,
  removed: false,
};
const transaction = {
  hash: log.transactionHash,
  from: fulfiller,
  to: fulfiller,
  input: '0x',
  logs: [log],
  keeps: () => true,
};
const trace = {
  type: 'CALL',
  from: fulfiller,
  to: fulfiller,
  input: '0x',
  calls: [
    {
      type: 'CALL',
      from: fulfiller,
      to: terms.tokenAddress,
      input: encodePayment(terms.requestor, terms.amount, terms.reference),
      logs: [{ address: log.address, topics, data: log.data }],
    },
  ],
};
/** Upstreams with these traces; an Error is a refusal. */
const poolOf = (...traces: readonly unknown[]): RpcPool =>
  ({
    async *attempts(work: (node: RpcNode) => Promise<unknown>): AsyncGenerator<Attempt<unknown>> {
      for (const shown of traces) {
        const call = async ({ parse }: RpcCall<unknown>): Promise<unknown> => {
          if (shown instanceof Error) throw shown;
          return parse(shown);
        };
        yield { kind: 'completed', value: await work({ call } as unknown as RpcNode) };
      }
    },
  }) as unknown as RpcPool;

describe('what a trace tells', () => {
  const before = new Map([[0n, written]]);
  const traced = new Map([[0n, terms.reference]]);

  it('counts before what calldata says', async () => {
    expect(await withTrace(poolOf(trace), transaction, before)).toEqual(traced);
  });

  it('is asked of the next upstream where one has none, or one of other logs', async () => {
    const refused = new RpcUpstreamError('not here', 'no', undefined, 'unsupported');
    expect(await withTrace(poolOf(refused, { ...trace, calls: [] }, trace), transaction, before)).toEqual(traced);
  });

  it('is not known where no upstream has it', async () => {
    expect(await withTrace(poolOf({ ...trace, calls: [] }), transaction, before)).toEqual(before);
  });
});
