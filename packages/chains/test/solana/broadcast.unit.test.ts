import { describe, expect, it } from '@jest/globals';
import { type RpcCall, type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import { NewestHead } from '../../src/newest-head.ts';
import { broadcast } from '../../src/solana/broadcast.ts';
import { decodeSigned, signedTransaction } from '../../src/solana/signed-transaction.ts';
import { blobFor, signedBy, termsIn } from './payments.ts';

/** A pool of this node alone. */
const poolOf = (node: RpcNode): RpcPool =>
  ({
    network: 'solana-devnet',
    async *attempts<T>(work: (node: RpcNode) => Promise<T>) {
      yield await work(node).then(
        (value) => ({ kind: 'completed' as const, value }),
        (error: RpcUpstreamError) => ({ kind: 'failed' as const, error }),
      );
    },
  }) as unknown as RpcPool;

describe('Solana broadcast', () => {
  /** The outcome at a node whose look-ups fail so, and the methods that it was called with. */
  async function sent(fault: 'throttled' | 'unreachable'): Promise<readonly [string, readonly string[]]> {
    const raw = signedBy(await blobFor(termsIn('USDC')));
    const decoded = decodeSigned(raw);
    if (!decoded.ok) throw new Error(decoded.problem);
    const called: string[] = [];
    const node: RpcNode = {
      name: 'node',
      plan: {},
      callsIn: () => Number.POSITIVE_INFINITY,
      call: ({ method }: RpcCall<unknown>) => {
        called.push(method);
        return Promise.resolve(decoded.value.hash) as never;
      },
      batch: () => Promise.reject(new RpcUpstreamError('no', 'no', undefined, fault)),
    };
    const { kind } = await broadcast(poolOf(node), signedTransaction(raw, decoded.value), new NewestHead());
    return [kind, called];
  }

  it('is not held back where the plan has no reads left', async () => {
    expect(await sent('throttled')).toEqual(['taken', ['sendTransaction']]);
  });

  it('sends nothing to a node that shows it in a block', async () => {
    const raw = signedBy(await blobFor(termsIn('USDC')));
    const decoded = decodeSigned(raw);
    if (!decoded.ok) throw new Error(decoded.problem);
    const node = {
      name: 'node',
      call: () => Promise.reject(new Error('it was sent')),
      batch: () => Promise.resolve([{ value: [{ slot: 7n }] }, { value: false, context: { slot: 7n } }]),
    } as unknown as RpcNode;
    const result = await broadcast(poolOf(node), signedTransaction(raw, decoded.value), new NewestHead());
    expect(result).toEqual({ kind: 'taken', isLanded: true });
  });

  it('does not reach a node that cannot be looked up for another reason', async () => {
    expect(await sent('unreachable')).toEqual(['unknown', []]);
  });
});
