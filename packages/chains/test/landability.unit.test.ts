import { describe, expect, it } from '@jest/globals';
import { type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import { bestLandability } from '../src/landability.ts';

const DOWN = Symbol('down');

/** Upstreams in their order; a reason why it cannot land there, null, or that the upstream is down. */
function poolOf(...upstreams: readonly (string | null | typeof DOWN)[]): {
  readonly pool: RpcPool;
  readonly asked: number[];
} {
  const nodes = upstreams.map((_, place) => ({ name: String(place) }) as RpcNode);
  const asked: number[] = [];
  const attempts = async function* <T>(work: (node: RpcNode) => Promise<T>, than?: RpcNode) {
    for (const node of nodes.filter((one) => one !== than))
      yield await work(node).then(
        (value) => ({ kind: 'completed' as const, value }),
        (error: RpcUpstreamError) => ({ kind: 'failed' as const, error }),
      );
  };
  const run = async <T>(work: (node: RpcNode) => Promise<T>): Promise<T> => {
    for await (const attempt of attempts(work)) if (attempt.kind === 'completed') return attempt.value;
    throw new Error('none responds');
  };
  const onOthers = <T>(than: RpcNode, work: (node: RpcNode) => Promise<T>) => attempts(work, than);
  return { pool: { run, onOthers } as unknown as RpcPool, asked };
}

describe('whether a transaction can land', () => {
  async function reasonOver(
    ...upstreams: readonly (string | null | typeof DOWN)[]
  ): Promise<[string | null, number[]]> {
    const { pool, asked } = poolOf(...upstreams);
    const { reason } = await bestLandability(pool, ({ name }) => {
      const place = Number(name);
      asked.push(place);
      const found = upstreams[place] ?? null;
      return found === DOWN ? Promise.reject(new RpcUpstreamError('down', 'no')) : Promise.resolve({ reason: found });
    });
    return [reason, asked];
  }

  it('is decided by the first upstream on which it can', async () => {
    expect(await reasonOver(null, 'expired')).toEqual([null, [0]]);
    expect(await reasonOver('expired', DOWN, null)).toEqual([null, [0, 1, 2]]);
  });

  it('is denied with the reason of the first one where it can on none that responds', async () => {
    expect(await reasonOver('expired', 'no money')).toEqual(['expired', [0, 1]]);
    expect(await reasonOver(DOWN, 'no money')).toEqual(['no money', [0, 1, 0]]);
  });
});
