import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { RpcPool } from '@pf/rpc';
import { answering, type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { broadcast } from '../../src/base/broadcast.ts';
import { getChainId } from '../../src/evm/calls.ts';
import { poolOver } from './chain.ts';
import { good, signed } from './payments.ts';

const TIMEOUT_MS = 2_000;

/** A URL on whose port no process listens. */
async function closedPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

describe('Base broadcast', () => {
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
  });
  afterEach(async () => {
    await Promise.all(pools.map((pool) => pool.close()));
    await Promise.all([first.stop(), second.stop()]);
  });

  const hash = `0x${'ab'.repeat(32)}`;
  const send = async (...urls: string[]): Promise<string> =>
    (await broadcast(over(...urls), { hash: hash as never, raw: await signed(good) })).kind;
  const refusing = answering({ eth_sendRawTransaction: new Error('insufficient funds for gas * price + value') });

  it('is taken when a node accepts it, knows it, or has it in a block', async () => {
    first.respond = refusing;
    second.respond = answering({ eth_sendRawTransaction: hash });
    expect(await send(first.url, second.url)).toBe('taken');
    second.respond = answering({ eth_sendRawTransaction: new Error('already known') });
    expect(await send(first.url, second.url)).toBe('taken');
  });

  it('is refused when every upstream that responds refuses it and the others cannot have it', async () => {
    first.respond = refusing;
    expect(await send(first.url)).toBe('refused');
    expect(await send(await closedPort(), first.url)).toBe('refused');
  });

  it('is unknown once a node may have accepted it, whatever the next one responds', async () => {
    first.respond = answering({ eth_sendRawTransaction: hash });
    first.faults = [];
    second.respond = refusing;
    const pool = over(first.url, second.url);
    await pool.call(getChainId());
    first.faults = [{ kind: 'swallow' }];
    expect((await broadcast(pool, { hash: hash as never, raw: await signed(good) })).kind).toBe('unknown');
  });

  it('is unknown while a used nonce may be its own, which a lagging node does not show', async () => {
    const used = answering({ eth_sendRawTransaction: new Error('nonce too low') });
    let shown: object | null = null;
    first.respond = (request) => (request.method === 'eth_getTransactionByHash' ? shown : used(request));
    expect(await send(first.url)).toBe('unknown');
    shown = { hash };
    expect(await broadcast(over(first.url), { hash: hash as never, raw: await signed(good) })).toEqual({
      kind: 'taken',
      isLanded: true,
    });
  });

  it('is unknown where a nonce is used and the node does not tell by what, whatever the next one says', async () => {
    first.respond = answering({ eth_sendRawTransaction: new Error('nonce too low') });
    second.respond = refusing;
    const pool = over(first.url, second.url);
    await pool.call(getChainId());
    first.faults = [{ kind: 'status', status: 403, methods: ['eth_getTransactionByHash'] }];
    expect((await broadcast(pool, { hash: hash as never, raw: await signed(good) })).kind).toBe('unknown');
  });

  it('is unknown when no upstream is reachable, or a refusal is ambiguous', async () => {
    expect(await send(await closedPort())).toBe('unknown');
    first.respond = answering({ eth_sendRawTransaction: new Error('failed to forward to the sequencer') });
    expect(await send(first.url)).toBe('unknown');
  });
});
