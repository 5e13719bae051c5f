import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, TransactionHash } from '@pf/domain';
import { type RpcCall, type RpcNode, RpcUpstreamError } from '@pf/rpc';
import { whyItCannotLand } from '../../src/base/landable.ts';
import { NewestHead } from '../../src/newest-head.ts';
import { decodeSigned } from '../../src/base/signed-transaction.ts';
import { good, payer, signed } from './payments.ts';

const HASH = `0x${'ab'.repeat(32)}` as TransactionHash;
const NEXT_NONCE = BigInt(good.nonce) + 1n;

/**
 * Nodes behind one URL, one for each request: their next nonces of the payer. None has the transaction. Each account's
 * transaction is in a block of its own.
 */
function nodeBehind(counts: readonly bigint[]): RpcNode {
  const left = [...counts];
  const respond = ({ method }: RpcCall<unknown>, count: bigint): unknown => {
    if (method === 'eth_getTransactionCount') return count;
    if (method === 'eth_getBlockByNumber') return { number: 100n + count, baseFeePerGas: 1n };
    return method === 'eth_getBalance' ? 10n ** 18n : null;
  };
  return {
    name: 'node',
    plan: {},
    callsIn: () => Number.POSITIVE_INFINITY,
    call: (call) => Promise.resolve(respond(call, left.shift() ?? 0n) as never),
    batch: (calls) => {
      const count = left.shift() ?? 0n;
      return Promise.resolve(calls.map((call) => respond(call, count)) as never);
    },
  };
}

describe('whether a transaction can land', () => {
  let blocks: NewestHead;
  async function reasonAt(...counts: readonly bigint[]): Promise<string | null> {
    const raw = await signed(good);
    const decoded = decodeSigned(raw);
    if (!decoded.ok) throw new Error(decoded.problem);
    return whyItCannotLand(nodeBehind(counts), { hash: HASH, raw }, decoded.value, payer.address as Address, blocks);
  }
  beforeEach(() => {
    blocks = new NewestHead();
  });

  it('names a nonce that another transaction has used', async () => {
    expect(await reasonAt(NEXT_NONCE, NEXT_NONCE)).toContain('already used');
  });

  it('concludes nothing about a used nonce from a node that lags behind the one before', async () => {
    await expect(reasonAt(NEXT_NONCE, NEXT_NONCE - 1n)).rejects.toThrow(RpcUpstreamError);
  });

  it('names a gap before its nonce', async () => {
    expect(await reasonAt(NEXT_NONCE - 2n)).toContain('leaves a gap');
  });

  it('refuses nothing at a node that is behind the block which a build was based on', async () => {
    blocks.saw(100n + NEXT_NONCE - 1n);
    await expect(reasonAt(NEXT_NONCE - 2n)).rejects.toThrow('is at 106, behind 107');
    expect(await reasonAt(NEXT_NONCE - 1n)).toBeNull();
  });
});
