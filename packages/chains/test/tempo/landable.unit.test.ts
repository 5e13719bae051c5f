import { describe, expect, it } from '@jest/globals';
import type { TransactionHash } from '@pf/domain';
import type { RpcCall, RpcNode } from '@pf/rpc';
import { id } from 'ethers/hash';
import { whyItCannotLand } from '../../src/tempo/landable.ts';
import { decodeSigned } from '../../src/tempo/signed-transaction.ts';
import { addressOf, good, payer, signed, terms } from './payments.ts';

const HASH = `0x${'ab'.repeat(32)}` as TransactionHash;
/** The chain's time, in which the payment is a minute from its end. */
const NOW_S = BigInt(good.validBefore) - 60n;
const RECEIVE_POLICY = id('validateReceivePolicy(address,address,address)').slice(0, 10);

/** A node of a chain on which the payment can land, but for what the recipient's policy says. */
function nodeWith(isKeptBack: boolean): RpcNode {
  const respond = ({ method, params: [first] }: RpcCall<unknown>): unknown => {
    if (method === 'eth_getTransactionReceipt') return null;
    if (method === 'eth_getBlockByNumber') return { number: 1n, timestamp: NOW_S, baseFeePerGas: 1n };
    if (method === 'eth_getTransactionCount') return 0n;
    const isOfPolicy = (first as { data?: string }).data?.startsWith(RECEIVE_POLICY) === true;
    return isOfPolicy ? isKeptBack : terms.amount * 10n;
  };
  return {
    name: 'node',
    plan: {},
    callsIn: () => Number.POSITIVE_INFINITY,
    call: (call) => Promise.resolve(respond(call) as never),
    batch: (calls) => Promise.resolve(calls.map(respond) as never),
  };
}

describe('whether a payment on Tempo can land', () => {
  async function reasonWith(isKeptBack: boolean): Promise<string | null> {
    const raw = await signed();
    const decoded = decodeSigned(raw);
    if (!decoded.ok) throw new Error(decoded.problem);
    const now = Number(NOW_S) * 1_000;
    return whyItCannotLand(nodeWith(isKeptBack), now, { hash: HASH, raw }, decoded.value, terms, addressOf(payer));
  }

  it('is refused where the recipient would not get it', async () => {
    expect(await reasonWith(false)).toBeNull();
    expect(await reasonWith(true)).toBe('the receive policy of the recipient would keep the money back');
  });
});
