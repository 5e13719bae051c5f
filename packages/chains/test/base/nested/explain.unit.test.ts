import { describe, expect, it } from '@jest/globals';
import type { Address, TransactionHash } from '@pf/domain';
import { type Attempt, type RpcCall, type RpcFault, type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import { encodeFunctionData, type Hex, pad, parseAbi, toHex } from 'viem';
import { encodePayment } from '../../../src/base/calldata.ts';
import { AUTHORIZATION_USED } from '../../../src/base/nested/authorized.ts';
import { explainTransfers, type Explanation, withTrace } from '../../../src/base/nested/explain.ts';
import { readTransfer, TRANSFER } from '../../../src/base/observe/landings.ts';
import { networkOf } from '../../../src/index.ts';
import { CHAIN, fulfiller, terms } from '../payments.ts';

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
const payment = encodePayment(terms.requestor, terms.amount, terms.reference) as Hex;
/** An account that has sent itself a batch of one call, the payment. */
const abi = parseAbi(['function execute(address to, uint256 value, bytes data)']);
const input = encodeFunctionData({ abi, functionName: 'execute', args: [log.address as string as Hex, 0n, payment] });
const transaction = {
  hash: log.transactionHash,
  sent: { from: fulfiller, to: fulfiller, input },
  logs: [log],
  network: networkOf(CHAIN),
};
const transfer = readTransfer(log);
if (transfer === null) throw new Error('it is a transfer');
const transfers = [transfer];
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
      input: payment,
      logs: [{ address: log.address, topics, data: log.data }],
    },
  ],
};
/** The same call as `trace_filter` shows it. */
const calls = [
  {
    type: 'call',
    action: { callType: 'call', from: fulfiller, to: terms.tokenAddress, input: trace.calls[0]?.input },
    transactionHash: transaction.hash,
  },
];
const refused = (fault: RpcFault): Error => new RpcUpstreamError('not here', 'no', undefined, fault);

/** Upstreams with this trace, and these calls of tokens. An Error is why there is none. */
type Shown = readonly [trace: unknown, calls?: unknown];
const poolOf = (...upstreams: readonly Shown[]): RpcPool =>
  ({
    async *attempts(work: (node: RpcNode) => Promise<unknown>): AsyncGenerator<Attempt<unknown>> {
      for (const [traced, filtered = refused('unsupported')] of upstreams) {
        const call = async ({ method, parse }: RpcCall<unknown>): Promise<unknown> => {
          const shown = method === 'trace_filter' ? filtered : traced;
          if (shown instanceof Error) throw shown;
          return parse(shown);
        };
        yield { kind: 'completed', value: await work({ call } as unknown as RpcNode) };
      }
    },
  }) as unknown as RpcPool;
const explained = (...upstreams: readonly Shown[]): Promise<Explanation> =>
  withTrace(poolOf(...upstreams), transaction, transfers);

describe('what a transfer carries', () => {
  const references = new Map([[0n, terms.reference]]);
  const paid = { references, said: 'explained' };
  const unknown = { references: new Map(), said: 'not_now' };
  const ofOthers = { ...trace, calls: [] };

  it('comes from a trace', async () => {
    expect(await explained([trace])).toEqual(paid);
  });

  it('is asked of the next upstream where one has no trace, or one of other logs', async () => {
    expect(await explained([refused('unsupported')], [ofOthers], [trace])).toEqual(paid);
  });

  it('comes from the calls of the tokens in its block where no trace can be read', async () => {
    expect(await explained([refused('unreachable'), calls])).toEqual(paid);
    const elsewhere = calls.map((one) => ({ ...one, transactionHash: `0x${'0b'.repeat(32)}` }));
    expect(await explained([refused('unsupported'), elsewhere])).toEqual(unknown);
  });

  it('is not known where no upstream has it', async () => {
    expect(await explained([ofOthers], [refused('rpc')])).toEqual(unknown);
  });

  it('comes from the calldata where no upstream has any traces, and only there', async () => {
    expect(await explained([refused('unsupported')], [refused('unsupported')])).toEqual({ references, said: 'none' });
    expect(await explained([refused('unsupported')], [refused('rpc')])).toEqual(unknown);
    expect(await explained()).toEqual(unknown);
    const ofAnother = { ...transaction, sent: { ...transaction.sent, from: terms.requestor } };
    const never = { ...unknown, said: 'none' };
    expect(await withTrace(poolOf([refused('unsupported')]), ofAnother, transfers)).toEqual(never);
  });

  it('is not known yet where an upstream could not show a trace: it may be too long', async () => {
    for (const fault of ['unreachable', 'timeout', 'throttled', 'malformed'] as const)
      expect(await explained([refused('unsupported')], [refused(fault)])).toEqual({ ...unknown, said: 'unreadable' });
  });

  it('is late where no one waits for a trace: neither is anything else asked for, nor another upstream', async () => {
    const soonExplained = (...upstreams: readonly Shown[]): Promise<Explanation> =>
      withTrace(poolOf(...upstreams), transaction, transfers, true);
    const late = { ...unknown, said: 'late' };
    const never = new TypeError('it is not asked');
    expect(await soonExplained([refused('timeout'), never], [never])).toEqual(late);
    expect(await soonExplained([refused('unsupported'), refused('timeout')], [never])).toEqual(late);
    expect(await soonExplained([refused('unsupported')], [trace])).toEqual(paid);
  });

  it('is known by an authorization without asking anyone', async () => {
    const used = { ...log, topics: [AUTHORIZATION_USED, topics[1] ?? '', terms.reference] };
    const logs = [used, { ...log, logIndex: 1n }];
    const [made] = logs.slice(1).flatMap((one) => readTransfer(one) ?? []);
    if (made === undefined) throw new Error('it is a transfer');
    const { references } = await explainTransfers(poolOf(), { ...transaction, logs }, [made]);
    expect(references).toEqual(new Map([[1n, terms.reference]]));
  });
});
