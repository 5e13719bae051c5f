import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { until } from '@pf/testing';
import { answering, type RpcFault, type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { refusable, RpcBehindError, type RpcPool, RpcUnavailableError, RpcUpstreamError } from '../src/index.ts';
import { getChainId, getHeadNumber, getTransactionCount, poolOver } from './upstreams.ts';

const ACCOUNT = `0x${'12'.repeat(20)}`;
const TIMEOUT_MS = 2_000;

describe('RpcPool', () => {
  let first: RpcProxy;
  let second: RpcProxy;
  let pools: RpcPool[];
  const over = (...urls: string[]): RpcPool => {
    const pool = poolOver(urls, TIMEOUT_MS);
    pools.push(pool);
    return pool;
  };

  beforeEach(async () => {
    pools = [];
    [first, second] = await Promise.all([startRpcProxy(''), startRpcProxy('')]);
    first.respond = answering({ eth_getTransactionCount: '0x1' });
    second.respond = answering({ eth_getTransactionCount: '0x2' });
  });
  afterEach(async () => {
    await Promise.all(pools.map((pool) => pool.close()));
    await Promise.all([first.stop(), second.stop()]);
  });
  const count = (pool: RpcPool): Promise<bigint> => pool.call(getTransactionCount(ACCOUNT));

  it('asks the first upstream as long as it is healthy', async () => {
    const pool = over(first.url, second.url);
    expect([await count(pool), await count(pool)]).toEqual([1n, 1n]);
    expect(second.calls.get('eth_getTransactionCount')).toBeUndefined();
  });

  it.each<RpcFault>([
    { kind: 'status', status: 429 },
    { kind: 'status', status: 500 },
    { kind: 'status', status: 503 },
    { kind: 'malformed' },
    { kind: 'hang' },
  ])('fails over to the next upstream on %p', async (fault) => {
    const pool = over(first.url, second.url);
    first.faults = [fault];
    expect(await count(pool)).toBe(2n);
  });

  it('fails over to the next upstream when a result does not match its schema', async () => {
    const pool = over(first.url, second.url);
    first.respond = answering({ eth_getTransactionCount: 'many' });
    expect(await count(pool)).toBe(2n);
  });

  it('lets a hanging upstream delay only the first call', async () => {
    const pool = over(first.url, second.url);
    first.faults = [{ kind: 'hang' }];
    await count(pool);
    first.calls.clear();
    expect(await count(pool)).toBe(2n);
    expect(first.calls.size).toBe(0);
  });

  it('asks one upstream at a time in turn, and the next one only where that fails', async () => {
    const pool = over(first.url, second.url);
    const look = (turn: number) => pool.inTurn(turn, (node) => node.call(getTransactionCount(ACCOUNT)));
    expect([await look(0), await look(1), await look(2)]).toEqual([1n, 2n, 1n]);
    const asked = (proxy: RpcProxy): number => proxy.calls.get('eth_getTransactionCount') ?? 0;
    expect([asked(first), asked(second)]).toEqual([2, 1]);
    second.faults = [{ kind: 'status', status: 500 }];
    expect(await look(3)).toBe(1n);
    first.faults = [{ kind: 'status', status: 500 }];
    await expect(look(4)).rejects.toThrow(RpcUnavailableError);
  });

  it('only probes a hanging upstream, and returns to it when it has recovered', async () => {
    const pool = over(first.url, second.url);
    first.faults = [{ kind: 'hang' }];
    const probed = (): number => first.calls.get('eth_chainId') ?? 0;
    await until('a probe', async () => {
      expect(await count(pool)).toBe(2n);
      return probed() >= 2;
    });
    first.faults = [];
    expect(first.calls.get('eth_getTransactionCount')).toBeUndefined();
    await until('the first upstream to be asked again', async () => (await count(pool)) === 1n);
  });

  it('tells upstreams of one host apart, whose keys are in their URLs', async () => {
    const pool = over(`${first.url}/key-1`, `${first.url}/key-2`);
    const names: string[] = [];
    for await (const attempt of pool.attempts((node) => Promise.resolve(node.name)))
      if (attempt.kind === 'completed') names.push(attempt.value);
    const { host } = new URL(first.url);
    expect(names).toEqual([host, `${host} #2`]);
  });

  it('retries its only upstream at once', async () => {
    const pool = over(first.url);
    first.faults = [{ kind: 'status', status: 500 }];
    await expect(count(pool)).rejects.toThrow(RpcUnavailableError);
    first.faults = [];
    expect(await count(pool)).toBe(1n);
  });

  it('asks an upstream whose head lags last', async () => {
    const pool = over(first.url, second.url);
    second.respond = answering({ eth_getTransactionCount: '0x2', eth_blockNumber: '0x65' });
    expect(await count(pool)).toBe(1n);
    await until('the second to be preferred', async () => {
      await pool.call(getHeadNumber());
      return (await count(pool)) === 2n;
    });
    // And returns to it when it has caught up.
    first.respond = answering({ eth_getTransactionCount: '0x1', eth_blockNumber: '0x65' });
    await until('the first to be asked again', async () => (await count(pool)) === 1n);
  });

  it('asks the next one where an upstream is behind, which has not failed', async () => {
    const pool = over(first.url, second.url);
    const work = (isBehind: boolean): Promise<string> =>
      pool.run(async (node) => {
        await node.call(getChainId());
        if (isBehind && first.url.endsWith(node.name)) throw new RpcBehindError(`${node.name} is behind`);
        return node.name;
      });
    const [behind, after] = [await work(true), await work(false)];
    expect(second.url).toContain(behind);
    expect(first.url).toContain(after);
  });

  describe('with a refusal that may be the chain’s answer or one node’s trouble', () => {
    const says = (message: string, code = -32_602) => Object.assign(new Error(message), { code });
    const asked = (pool: RpcPool): Promise<unknown> => pool.call(refusable(getTransactionCount(ACCOUNT)));
    const refused = expect.objectContaining({ name: 'RpcRefusedError', code: -32_602 });

    it('asks a second upstream, whose result counts', async () => {
      const pool = over(first.url, second.url);
      first.respond = answering({ eth_getTransactionCount: says('odd parameters') });
      expect(await asked(pool)).toBe(2n);
      // The first has not failed.
      first.respond = answering({ eth_getTransactionCount: '0x1' });
      expect(await asked(pool)).toBe(1n);
    });

    it('takes it for the answer where both say it, and from the only one', async () => {
      const pool = over(first.url, second.url);
      for (const proxy of [first, second])
        proxy.respond = answering({ eth_getTransactionCount: says('invalid parameters') });
      expect(await asked(pool)).toEqual(refused);
      expect(await asked(over(first.url))).toEqual(refused);
    });

    it('takes it for no answer where the second upstream is down', async () => {
      const pool = over(first.url, second.url);
      first.respond = answering({ eth_getTransactionCount: says('odd parameters') });
      second.faults = [{ kind: 'status', status: 500 }];
      await expect(asked(pool)).rejects.toThrow(RpcUnavailableError);
    });
  });

  it('asks another healthy upstream for a second opinion, and returns null where there is none', async () => {
    const pool = over(first.url, second.url);
    const opinion = (): Promise<bigint | null> =>
      pool.run((node) => pool.onAnother(node, (other) => other.call(getTransactionCount(ACCOUNT))));
    expect(await opinion()).toBe(2n);
    second.faults = [{ kind: 'status', status: 429 }];
    expect(await opinion()).toBeNull();
  });

  it('reads again from an upstream that has not read the first time', async () => {
    const pool = over(first.url, second.url);
    const again = (reader: string | null) =>
      pool.run((node) => pool.doubleCheck(node, reader, (other) => other.call(getTransactionCount(ACCOUNT))));
    // In use is the first one.
    expect(await again(new URL(second.url).host)).toEqual([1n]);
    expect(await again(new URL(first.url).host)).toEqual([2n]);
    expect(await again(null)).toEqual([2n, 1n]);
  });

  it.each([
    ['serves another network', 0, (): void => void (second.respond = answering({ eth_chainId: '0x1' }))],
    ['has failed for eleven minutes', 11, (): void => void (second.faults = [{ kind: 'status', status: 503 }])],
  ])('concludes nothing by one where both must show it, while the other %s', async (_what, minutes, breaks) => {
    breaks();
    const pool = over(first.url, second.url);
    const now = jest.spyOn(performance, 'now');
    const both = (alone: boolean): Promise<unknown> =>
      pool.run((node) =>
        pool.doubleCheck(node, null, (by) => by.call(getTransactionCount(ACCOUNT)), undefined, { alone }),
      );
    expect(await both(false)).toBeNull();
    now.mockReturnValue(performance.now() + minutes * 60_000);
    expect(await both(false)).toBeNull();
    expect(await both(true)).toEqual([1n]);
    now.mockRestore();
    const single = over(first.url);
    expect(
      await single.run((node) =>
        single.doubleCheck(node, null, (by) => by.call(getTransactionCount(ACCOUNT)), undefined, { alone: false }),
      ),
    ).toEqual([1n]);
  });

  describe('with a third upstream, where the second has no history', () => {
    let third: RpcProxy;
    beforeEach(async () => {
      third = await startRpcProxy('');
      second.respond = answering({ eth_getTransactionCount: '0x0' });
      third.respond = answering({ eth_getTransactionCount: '0x3' });
    });
    afterEach(() => third.stop());
    const knowsNone = (result: bigint): boolean => result === 0n;
    const again = (pool: RpcPool, reader: RpcProxy | null) =>
      pool.run((node) =>
        pool.doubleCheck(
          node,
          reader && new URL(reader.url).host,
          (by) => by.call(getTransactionCount(ACCOUNT)),
          knowsNone,
        ),
      );

    it('asks the third, and not the first again', async () => {
      expect(await again(over(first.url, second.url, third.url), first)).toEqual([3n]);
      expect(first.calls.get('eth_getTransactionCount')).toBeUndefined();
    });

    it('asks the third where the one in use is the second', async () => {
      expect(await again(over(second.url, third.url, first.url), first)).toEqual([3n]);
      expect(first.calls.get('eth_getTransactionCount')).toBeUndefined();
    });

    it('asks the third where it is not known who was the first', async () => {
      expect(await again(over(first.url, second.url, third.url), null)).toEqual([3n, 1n]);
    });

    it('asks the third where it is not known who was the first, and the one in use has no history', async () => {
      expect(await again(over(second.url, first.url, third.url), null)).toEqual([1n, 3n]);
      expect(first.calls.get('eth_getTransactionCount')).toBe(1);
    });

    it('asks the third where the second does not respond', async () => {
      second.faults = [{ kind: 'status', status: 500 }];
      expect(await again(over(first.url, second.url, third.url), first)).toEqual([3n]);
    });

    it('returns what the second says where the third knows no more, or where there is none', async () => {
      third.respond = answering({ eth_getTransactionCount: '0x0' });
      expect(await again(over(first.url, second.url, third.url), first)).toEqual([0n]);
      expect(await again(over(first.url, second.url), first)).toEqual([0n]);
      expect(await again(over(second.url, first.url), first)).toEqual([0n]);
    });
  });

  it('concludes nothing from one upstream where two are configured', async () => {
    const pool = over(first.url, second.url);
    const ask = (): Promise<unknown> => pool.onAll((node) => node.call(getTransactionCount(ACCOUNT)));
    expect(await ask()).toEqual({ responses: [1n, 2n], conclusive: true });
    first.faults = [{ kind: 'cut' }];
    expect(await ask()).toEqual({ responses: [2n], conclusive: false });
    expect(await over(second.url).onAll((node) => node.call(getChainId()))).toEqual({
      responses: [84_532n],
      conclusive: true,
    });
  });

  it('concludes from its only upstream what that says while work there is repeated', async () => {
    const pool = over(first.url);
    let attempts = 0;
    const concluded = await pool.run(async (node) => {
      if (++attempts === 1) throw new RpcUpstreamError(`${node.name} is unreachable`, 'maybe');
      return pool.onAll((one) => one.call(getTransactionCount(ACCOUNT)));
    });
    expect(concluded).toEqual({ responses: [1n], conclusive: true });
  });

  it('concludes nothing from an upstream that has started to serve another network', async () => {
    const pool = over(first.url);
    expect(await count(pool)).toBe(1n);
    first.faults = [{ kind: 'stranger' }];
    first.respond = ({ method }) => (method === 'eth_getTransactionCount' ? '0x1' : undefined);
    expect(await pool.onAll((node) => node.call(getTransactionCount(ACCOUNT)))).toEqual({
      responses: [],
      conclusive: false,
    });
  });

  it('never uses an upstream of another network', async () => {
    first.respond = answering({ eth_chainId: '0x1', eth_getTransactionCount: '0x1' });
    expect(await count(over(first.url, second.url))).toBe(2n);
    expect([...first.calls.keys()]).toEqual(['eth_chainId']);
    await expect(count(over(first.url))).rejects.toThrow('serves eip155:1');
  });

  it('keeps a piece of work on one upstream, and repeats all of it on the next', async () => {
    const pool = over(first.url, second.url);
    const asked: string[] = [];
    const both = await pool.run(async (node) => {
      const one = await node.call(getTransactionCount(ACCOUNT));
      if (asked.push(node.name) === 1) first.faults = [{ kind: 'status', status: 500 }];
      return [one, await node.call(getTransactionCount(ACCOUNT))];
    });
    expect(both).toEqual([2n, 2n]);
  });

  it('reports within the time limit whether an upstream is ready', async () => {
    const pool = over(first.url);
    expect(await pool.ready(getChainId(), 20_000)).toBe(true);
    first.faults = [{ kind: 'hang' }];
    expect(await pool.ready(getTransactionCount(ACCOUNT), 20)).toBe(false);
  });
});
