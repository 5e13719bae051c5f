import { describe, expect, it } from '@jest/globals';
import type { Address } from '@pf/domain';
import type { RpcCall, RpcPool } from '@pf/rpc';
import { TempoAdapter } from '../../src/tempo/adapter.ts';
import { network } from './payments.ts';

const VIRTUAL = `0x12345678${'fd'.repeat(10)}010203040506` as Address;
const MASTER = '0x9999999999999999999999999999999999999999';
const word = (hex: string): string => `0x${hex.slice(2).padStart(64, '0')}`;

/** An adapter whose upstream answers this to each call, and the calls it was asked. */
function adapterOf(answers: readonly string[]): { readonly adapter: TempoAdapter; readonly asked: unknown[] } {
  const asked: unknown[] = [];
  const pool = {
    call: async ({ params, parse }: RpcCall<unknown>) => {
      const [request] = params as [{ readonly to: string; readonly data: string }];
      asked.push([request.to, request.data]);
      return parse(answers[asked.length - 1]);
    },
  } as unknown as RpcPool;
  return { adapter: new TempoAdapter(network, pool), asked };
}

describe('The account that gets what is paid to an address of Tempo', () => {
  it('is the master account of a virtual address, as the address registry has it, asked once', async () => {
    const { adapter, asked } = adapterOf([word(MASTER)]);
    expect(await adapter.payee(VIRTUAL)).toBe(MASTER);
    expect(await adapter.payee(VIRTUAL)).toBe(MASTER);
    // getMaster(bytes4) of TIP-1022.
    expect(asked).toEqual([['0xfDC0000000000000000000000000000000000000', `0xd84ab16612345678${'00'.repeat(28)}`]]);
  });

  it('is the address itself where it is not virtual, without a call', async () => {
    const { adapter, asked } = adapterOf([]);
    expect(await adapter.payee(MASTER as Address)).toBe(MASTER);
    expect(asked).toEqual([]);
  });

  it('is not known where no master is registered, or the chain has no registry, and is asked for again', async () => {
    const { adapter } = adapterOf([word('0x'), '0x', `0x${'ff'.repeat(31)}`, word(MASTER)]);
    expect(await adapter.payee(VIRTUAL)).toBeNull();
    expect(await adapter.payee(VIRTUAL)).toBeNull();
    expect(await adapter.payee(VIRTUAL)).toBeNull();
    expect(await adapter.payee(VIRTUAL)).toBe(MASTER);
  });
});
