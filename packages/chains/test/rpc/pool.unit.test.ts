import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { type RpcFault, type RpcProxy, startRpcProxy, until } from '@pf/testing';
import { broadcast } from '../../src/base/broadcast.ts';
import { getChainId, getHeadNumber, getTransaction, getTransactionCount } from '../../src/evm/calls.ts';
import { RpcUnavailableError } from '../../src/index.ts';
import type { RpcPool } from '../../src/rpc/pool.ts';
import { poolOver } from '../base/chain.ts';
import { good, signed } from '../base/payments.ts';

const ACCOUNT = `0x${'12'.repeat(20)}`;
const TIMEOUT_MS = 600;

describe('a pool of upstreams', () => {
  let first: RpcProxy;
  let second: RpcProxy;
  let pools: RpcPool[];
  const over = (...urls: string[]): RpcPool => {
    const pool = poolOver(urls, TIMEOUT_MS);
    pools.push(pool);
    return pool;
  };
  /** Answers of its own: no node behind it. */
  const says =
    (answers: Record<string, unknown>): RpcProxy['answer'] =>
    ({ method }) =>
      ({ eth_chainId: '0x14a34', eth_blockNumber: '0x64', ...answers })[method] ?? new Error(`no ${method} here`);

  beforeEach(async () => {
    pools = [];
    [first, second] = await Promise.all([startRpcProxy(''), startRpcProxy('')]);
    first.answer = says({ eth_getTransactionCount: '0x1' });
    second.answer = says({ eth_getTransactionCount: '0x2' });
  });
  afterEach(async () => {
    await Promise.all(pools.map((pool) => pool.close()));
    await Promise.all([first.stop(), second.stop()]);
  });
  /** A port where nobody listens. */
  async function nowhere(): Promise<string> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    return `http://127.0.0.1:${port}`;
  }
  const count = (pool: RpcPool): Promise<bigint> => pool.call(getTransactionCount(ACCOUNT, 'latest'));

  it('asks the first upstream as long as it does well', async () => {
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
  ])('goes on to the next when one answers with %p', async (fault) => {
    const pool = over(first.url, second.url);
    first.faults = [fault];
    expect(await count(pool)).toBe(2n);
  });

  it('goes on to the next when an answer is not what was asked for', async () => {
    const pool = over(first.url, second.url);
    first.answer = says({ eth_getTransactionCount: 'many' });
    expect(await count(pool)).toBe(2n);
  });

  it('does not let a hanging upstream delay the questions after the first one', async () => {
    const pool = over(first.url, second.url);
    first.faults = [{ kind: 'hang' }];
    await count(pool);
    first.calls.clear();
    expect(await count(pool)).toBe(2n);
    expect(first.calls.size).toBe(0);
  });

  it('asks one that hangs nothing but how it does, beside the work, and comes back to it when it has recovered', async () => {
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

  it('comes back to its only upstream at once', async () => {
    const pool = over(first.url);
    first.faults = [{ kind: 'status', status: 500 }];
    await expect(count(pool)).rejects.toThrow(RpcUnavailableError);
    first.faults = [];
    expect(await count(pool)).toBe(1n);
  });

  it('asks one last whose head lags behind', async () => {
    const pool = over(first.url, second.url);
    second.answer = says({ eth_getTransactionCount: '0x2', eth_blockNumber: '0x65' });
    expect(await count(pool)).toBe(1n);
    await until('the second to be preferred', async () => {
      await pool.call(getHeadNumber());
      return (await count(pool)) === 2n;
    });
    // And comes back to it when it has caught up.
    first.answer = says({ eth_getTransactionCount: '0x1', eth_blockNumber: '0x65' });
    await until('the first to be asked again', async () => (await count(pool)) === 1n);
  });

  it('has a second opinion where another does well, and none where it does not', async () => {
    const pool = over(first.url, second.url);
    const opinion = (): Promise<bigint | null> =>
      pool.run((node) => pool.elsewhere(node, (other) => other.call(getTransactionCount(ACCOUNT, 'latest'))));
    expect(await opinion()).toBe(2n);
    second.faults = [{ kind: 'status', status: 429 }];
    expect(await opinion()).toBeNull();
  });

  it('concludes nothing from one upstream where two are configured', async () => {
    const pool = over(first.url, second.url);
    const ask = (): Promise<unknown> => pool.testimonies((node) => node.call(getTransactionCount(ACCOUNT, 'latest')));
    expect(await ask()).toEqual({ answers: [1n, 2n], suffice: true });
    first.faults = [{ kind: 'cut' }];
    expect(await ask()).toEqual({ answers: [2n], suffice: false });
    expect(await over(second.url).testimonies((node) => node.call(getChainId()))).toEqual({
      answers: [84_532n],
      suffice: true,
    });
  });

  it('concludes nothing from an upstream that has become another network', async () => {
    const pool = over(first.url);
    expect(await count(pool)).toBe(1n);
    first.faults = [{ kind: 'stranger' }];
    first.answer = ({ method }) => (method === 'eth_getTransactionCount' ? '0x1' : undefined);
    expect(await pool.testimonies((node) => node.call(getTransactionCount(ACCOUNT, 'latest')))).toEqual({
      answers: [],
      suffice: false,
    });
  });

  it('never asks an upstream of another network', async () => {
    first.answer = says({ eth_chainId: '0x1', eth_getTransactionCount: '0x1' });
    expect(await count(over(first.url, second.url))).toBe(2n);
    expect([...first.calls.keys()]).toEqual(['eth_chainId']);
    await expect(count(over(first.url))).rejects.toThrow('serves eip155:1');
  });

  it('keeps a piece of work on one upstream, and does all of it anew on the next', async () => {
    const pool = over(first.url, second.url);
    const asked: string[] = [];
    const both = await pool.run(async (node) => {
      const one = await node.call(getTransactionCount(ACCOUNT, 'latest'));
      if (asked.push(node.name) === 1) first.faults = [{ kind: 'status', status: 500 }];
      return [one, await node.call(getTransactionCount(ACCOUNT, 'latest'))];
    });
    expect(both).toEqual([2n, 2n]);
  });

  it('says within its time whether one is ready', async () => {
    const pool = over(first.url);
    expect(await pool.ready(getChainId(), 1_000)).toBe(true);
    first.faults = [{ kind: 'hang' }];
    expect(await pool.ready(getTransaction(`0x${'00'.repeat(32)}`), 20)).toBe(false);
  });

  describe('broadcasting', () => {
    const hash = `0x${'ab'.repeat(32)}`;
    const send = async (...urls: string[]): Promise<string> =>
      (await broadcast(over(...urls), { hash: hash as never, raw: await signed(good) })).kind;
    const refusing = says({ eth_sendRawTransaction: new Error('insufficient funds for gas * price + value') });

    it('is taken when one node takes it, or knew it, or has it in a block', async () => {
      first.answer = refusing;
      second.answer = says({ eth_sendRawTransaction: hash });
      expect(await send(first.url, second.url)).toBe('taken');
      second.answer = says({ eth_sendRawTransaction: new Error('already known') });
      expect(await send(first.url, second.url)).toBe('taken');
    });

    it('is refused when all that answer refuse it, and the others cannot have it', async () => {
      first.answer = refusing;
      expect(await send(first.url)).toBe('refused');
      expect(await send(await nowhere(), first.url)).toBe('refused');
    });

    it('is unknown after a node may have taken it, whatever the next one says', async () => {
      first.answer = says({ eth_sendRawTransaction: hash });
      first.faults = [];
      second.answer = refusing;
      const pool = over(first.url, second.url);
      await pool.call(getChainId());
      first.faults = [{ kind: 'swallow' }];
      expect((await broadcast(pool, { hash: hash as never, raw: await signed(good) })).kind).toBe('unknown');
    });

    it('is unknown when nobody could be reached, or a node says what may mean anything', async () => {
      expect(await send(await nowhere())).toBe('unknown');
      first.answer = says({ eth_sendRawTransaction: new Error('failed to forward to the sequencer') });
      expect(await send(first.url)).toBe('unknown');
    });
  });
});
