import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TransactionHash } from '@pf/domain';
import type { RpcCall, RpcNode, RpcPool } from '@pf/rpc';
import { leastCpu, longestTurn } from '@pf/testing/quiet-core';
import { type Hex, toHex } from 'viem';
import { getCallTrace } from '../../src/base/nested/call-trace.ts';
import { keptLogsOf } from '../../src/base/nested/kept-logs.ts';
import { getTokenCalls } from '../../src/base/nested/token-calls.ts';
import { readTransfer, TRANSFER } from '../../src/base/observe/landings.ts';
import { readReceipts as readOnBase } from '../../src/base/observe/receipts.ts';
import { paidIn } from '../../src/base/paid.ts';
import {
  getCalling,
  getLogs,
  getReceipt,
  getTransaction,
  type Log,
  type Receipt,
  STRANGERS_MAX_BYTES,
} from '../../src/evm/calls.ts';
import { networkOf } from '../../src/index.ts';
import { getPlace, getTempoTransaction } from '../../src/tempo/calls.ts';
import { paymentsIn, TRANSFER_WITH_MEMO } from '../../src/tempo/observe/landings.ts';
import { keeps as keptOnTempo, readReceipts as readOnTempo } from '../../src/tempo/observe/receipts.ts';
import { observedIn, type Scan } from '../../src/tempo/observe/scan.ts';
import { poolOver } from '../base/chain.ts';
import { CHAIN } from '../base/payments.ts';
import { Watched } from '../conformance/watching.ts';
import { topic } from './base.ts';
import { heldWhile, mostHeld } from './held.ts';

/** Of one core, in which nothing else is done. */
const TURN_MAX_MS = 50;
const HELD_MAX_BYTES = 32 * 2 ** 20;

const base = networkOf(CHAIN);
const tempo = networkOf('eip155:42431' as typeof CHAIN);
const hash = `0x${'ab'.repeat(32)}` as TransactionHash;
const ATTACKER: Hex = `0x${'ba'.repeat(20)}`;
const [usdc, usdcOnTempo] = [base, tempo].map(({ tokens: [token] }) => String(token?.address)) as [string, string];
const word = (value: number): Hex => toHex(value, { size: 32 });
const account = (number: number): Hex => toHex(0xacc0_0000_0000 + number, { size: 20 });

/** A list of as many items as fit into a response, with some hundred bytes around it. */
function filled(itemAt: (index: number) => string, maxBytes = STRANGERS_MAX_BYTES): string {
  const items: string[] = [];
  let size = 1_000;
  for (let index = 0; ; index += 1) {
    const item = itemAt(index);
    size += item.length + 1;
    if (size > maxBytes) return `[${items.join(',')}]`;
    items.push(item);
  }
}
const logAt = (index: number, address: string, topics: readonly string[], data = '0x'): string =>
  JSON.stringify({
    address,
    topics,
    data,
    blockNumber: '0x1',
    blockHash: hash,
    transactionHash: hash,
    transactionIndex: '0x1',
    logIndex: toHex(index),
    removed: false,
  });
/** Each from another account to another. */
const transferAt = (index: number, token: string): string =>
  logAt(index, token, [TRANSFER, topic(account(2 * index)), topic(account(2 * index + 1))], word(index));
const receiptOf = (logs: string): string => {
  const place = { transactionHash: hash, status: '0x1', blockNumber: '0x1', blockHash: hash };
  const fields = JSON.stringify({ ...place, from: ATTACKER, to: ATTACKER, gasUsed: '0x1', effectiveGasPrice: '0x1' });
  return `${fields.slice(0, -1)},"logs":${logs}}`;
};
const frame = (more: object = {}): string =>
  JSON.stringify({ type: 'CALL', from: ATTACKER, to: ATTACKER, gas: '0xffff', gasUsed: '0x64', input: '0x', ...more });
const traceOf = (parts: string): string => `${frame().slice(0, -1)},${parts}}`;
function deepTrace(): string {
  const DEPTH = 1_024;
  const input = `0x${'00'.repeat(Math.floor(STRANGERS_MAX_BYTES / DEPTH / 2) - 100)}`;
  const open = `${frame({ input }).slice(0, -1)},"calls":[`;
  return `${open.repeat(DEPTH - 1)}${frame()}${']}'.repeat(DEPTH - 1)}`;
}
const LONG_INPUT = `0x${'ab'.repeat(STRANGERS_MAX_BYTES / 2 - 500)}`;
const called = JSON.stringify({
  ...{ hash, type: '0x2', from: ATTACKER, to: ATTACKER, nonce: '0x1', gas: '0xffff', value: '0x0' },
  ...{ input: LONG_INPUT, blockHash: hash, blockNumber: '0x1' },
});
const tokenCall = (index: number): string =>
  JSON.stringify({
    type: 'call',
    action: { callType: 'call', from: account(index), to: usdc, gas: '0x1', value: '0x0', input: word(index) },
    result: { gasUsed: '0x1', output: '0x' },
    transactionHash: hash,
    blockHash: hash,
    blockNumber: 1,
    subtraces: 0,
    traceAddress: [0],
  });

type Largest = readonly [what: string, call: RpcCall<unknown>, result: string];
const keptOnBase = keptLogsOf(base);
const ofStrangers = filled((index) => logAt(index, ATTACKER, []));
const onBase: readonly Largest[] = [
  ['a receipt of empty logs', getReceipt(hash, keptOnBase), receiptOf(ofStrangers)],
  ['a receipt of transfers', getReceipt(hash, keptOnBase), receiptOf(filled((index) => transferAt(index, usdc)))],
  [
    'a receipt of one log',
    getReceipt(hash, keptOnBase),
    receiptOf(`[${logAt(0, usdc, [TRANSFER, topic(ATTACKER), topic(ATTACKER)], LONG_INPUT.slice(0, -1_000))}]`),
  ],
  ['a transaction', getTransaction(hash), called],
  ['who calls what in a transaction', getCalling(hash), called],
  [
    'a trace of calls beside one another',
    getCallTrace(hash, keptOnBase),
    traceOf(`"calls":${filled((index) => frame({ from: account(index), to: account(index + 1) }))}`),
  ],
  ['a trace of calls within one another', getCallTrace(hash, keptOnBase), deepTrace()],
  [
    'a trace of transfers',
    getCallTrace(hash, keptOnBase),
    traceOf(
      `"logs":${filled((index) =>
        JSON.stringify({
          address: usdc,
          topics: [TRANSFER, topic(account(index)), topic(ATTACKER)],
          data: word(index),
          position: '0x0',
        }),
      )}`,
    ),
  ],
  ['calls of tokens', getTokenCalls([usdc], 1n), filled(tokenCall)],
];
const onTempo: readonly Largest[] = [
  ['a receipt of empty logs', getReceipt(hash, keptOnTempo), receiptOf(ofStrangers)],
  [
    'a receipt of transfers',
    getReceipt(hash, keptOnTempo),
    receiptOf(filled((index) => transferAt(index, usdcOnTempo))),
  ],
  ['the place of a transaction', getPlace(hash), called],
  ['a transaction', getTempoTransaction(hash), called],
];

describe('the largest responses of a node', () => {
  let server: Server;
  let url: string;
  /** What it says of whatever it is asked. */
  let body = Buffer.of();
  let contentEncoding = 'identity';
  beforeEach(() => {
    contentEncoding = 'identity';
  });
  const pools: RpcPool[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        const chain = { eth_chainId: 84_532, eth_blockNumber: 1 }[/"method":"(\w+)"/.exec(text)?.[1] ?? ''];
        if (chain === undefined) response.setHeader('content-encoding', contentEncoding);
        response.end(chain === undefined ? body : `{"jsonrpc":"2.0","id":0,"result":"${toHex(chain)}"}`);
      });
    });
    // A busy machine may take longer over one response than a connection is kept.
    server.keepAliveTimeout = 300_000;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    for (const pool of pools) await pool.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  function openPool(): RpcPool {
    const pool = poolOver([url]);
    pools.push(pool);
    return pool;
  }
  const asBody = (result: string): Buffer<ArrayBuffer> => Buffer.from(`{"jsonrpc":"2.0","id":0,"result":${result}}`);

  describe.each([
    ['Base', onBase],
    ['Tempo', onTempo],
  ])('of %s', (_chain, all) => {
    it.each(all)('take a moment to read: %s', async (_what, call, result) => {
      body = asBody(result);
      expect(body.length).toBeGreaterThan(0.99 * STRANGERS_MAX_BYTES - 1_000);
      const pool = openPool();
      expect(await longestTurn(() => pool.call(call), TURN_MAX_MS)).toBeLessThan(TURN_MAX_MS);
    });

    it.each(all)('take little memory: %s', (_what, { parse }, result) => {
      expect(heldWhile(asBody(result), (json) => parse((json as { result: unknown }).result))).toBeLessThan(
        HELD_MAX_BYTES,
      );
    });

    it.each(all)('are not read where they are longer: %s', async (_what, call, result) => {
      body = asBody(`${result}${' '.repeat(STRANGERS_MAX_BYTES - result.length)}`);
      await expect(openPool().run((node) => node.call(call))).rejects.toThrow('ERR_BUFFER_TOO_LARGE');
    });
  });

  describe('with all logs of a block', () => {
    const BLOCK_BYTES = 60 * 2 ** 20;
    /** As many as are paid to one recipient by the gas of a block, and more. */
    const HELD_OF_BLOCK_MAX_BYTES = 128 * 2 ** 20;
    const filter = { fromBlock: 1n, toBlock: 1n, address: [usdc], topics: [[TRANSFER]] };
    let logs: string;
    let count: number;
    beforeAll(() => {
      const recipient = topic(account(7));
      logs = filled(
        (index) => logAt(index, usdc, [TRANSFER, topic(account(2 * index)), recipient], word(index)),
        BLOCK_BYTES,
      );
      count = logs.split('"removed"').length - 1;
    });

    it.each(['identity', 'gzip'])('are read in moments, and none is lost: %s', async (encoding) => {
      const whole = asBody(logs);
      [body, contentEncoding] = [encoding === 'gzip' ? gzipSync(whole) : whole, encoding];
      const pool = openPool();
      const read: (readonly Log[])[] = [];
      const work = async (): Promise<void> => {
        read[0] = await pool.call(getLogs(filter));
      };
      expect(await longestTurn(work, TURN_MAX_MS)).toBeLessThan(TURN_MAX_MS);
      expect(count).toBeGreaterThan(100_000);
      expect(read[0]?.map(({ logIndex }) => Number(logIndex))).toEqual(Array.from({ length: count }, (_, at) => at));
    });

    it('hold what is read of them, and no more', async () => {
      body = asBody(logs);
      const pool = openPool();
      await pool.call(getLogs({ ...filter, topics: [] }));
      expect(await mostHeld(() => pool.call(getLogs(filter)))).toBeLessThan(HELD_OF_BLOCK_MAX_BYTES);
    });
  });

  describe('that a lying node has made', () => {
    const lists = '[],'.repeat((STRANGERS_MAX_BYTES - 1_000) / 3);
    const objects = '{},'.repeat((STRANGERS_MAX_BYTES - 1_000) / 3);
    const names = Array.from({ length: STRANGERS_MAX_BYTES / 16 }, (_, name) => `"${name.toString(36)}":{}`).join();
    const deep = Math.floor((STRANGERS_MAX_BYTES - 1_000) / 2);
    it.each([
      ['lists', `[${lists}0]`],
      ['objects', `[${objects}0]`],
      ['names', `{${names}}`],
      ['lists within one another', '['.repeat(deep) + ']'.repeat(deep)],
      ['lists in a receipt', receiptOf(`[${lists.slice(0, -3_000)}0]`)],
      ['objects in logs', receiptOf(`[${objects.slice(0, -3_000)}0]`)],
    ])('take a moment, and little memory: %s', async (_what, result) => {
      body = asBody(result);
      const pool = openPool();
      const fails = (call: RpcCall<unknown>): Promise<void> =>
        expect(pool.run((node) => node.call(call))).rejects.toThrow(/ERR_BUFFER_TOO_LARGE|invalid result/);
      const read = async (): Promise<unknown> => {
        await fails(getReceipt(hash));
        await fails(getLogs({ fromBlock: 1n, toBlock: 1n, address: [], topics: [] }));
        return body;
      };
      expect(await longestTurn(read, TURN_MAX_MS)).toBeLessThan(TURN_MAX_MS);
      expect(await mostHeld(read)).toBeLessThan(HELD_MAX_BYTES);
    });
  });

  it('take a moment to judge on Base: transfers between as many accounts as fit', async () => {
    body = asBody(receiptOf(filled((index) => transferAt(index, usdc))));
    const pool = openPool();
    const judged: number[] = [];
    const judge = (node: RpcNode) => async (): Promise<void> => {
      const [receipt] = await readOnBase({ node, pool, network: base }, [hash]);
      const transfers = (receipt as Receipt).logs.flatMap((log) => readTransfer(log) ?? []);
      judged.push(paidIn(transfers, () => true).size);
    };
    expect(await pool.run((node) => longestTurn(judge(node), TURN_MAX_MS))).toBeLessThan(TURN_MAX_MS);
    expect(judged[0]).toBeGreaterThan(5_000);
  });

  it('take a moment to judge on Tempo: transfers between as many accounts as fit', async () => {
    body = asBody(receiptOf(filled((index) => transferAt(index, usdcOnTempo))));
    const judged: unknown[] = [];
    const judge = (node: RpcNode) => async (): Promise<void> => {
      const [receipt] = await readOnTempo(node, [hash], tempo);
      judged.push(paymentsIn(receipt as Receipt, tempo));
    };
    const pool = openPool();
    expect(await pool.run((node) => longestTurn(judge(node), TURN_MAX_MS))).toBeLessThan(TURN_MAX_MS);
    expect(judged[0]).toEqual([]);
  });
});

describe('receipts of one step', () => {
  it('take a moment each to judge on Tempo, however many are as large as one can be', async () => {
    const RECEIPTS = 3;
    const { parse } = getReceipt(hash, keptOnTempo);
    /** Of payments between accounts that are in no other receipt. */
    const receipts = Array.from({ length: RECEIPTS }, (_, number) => {
      const logs = filled((index) => {
        const [from, to] = [account(2_000_000 + number * 50_000 + index), account(number * 50_000 + index)];
        const parties = [topic(from), topic(to)];
        return [
          logAt(2 * index, usdcOnTempo, [TRANSFER, ...parties], word(index)),
          logAt(2 * index + 1, usdcOnTempo, [TRANSFER_WITH_MEMO, ...parties, word(index)], word(index)),
        ].join();
      });
      return parse(JSON.parse(receiptOf(logs))) as Receipt;
    });
    const context = { network: tempo, watch: new Watched(), pool: { size: 1 } } as unknown as Scan;
    const shown = receipts.map((receipt) => ({ receipt, by: 'node' }));
    expect(paymentsIn(receipts[0] as Receipt, tempo).length).toBeGreaterThan(3_000);
    expect(await longestTurn(() => observedIn(context, shown), TURN_MAX_MS)).toBeLessThan(TURN_MAX_MS);
  });
});

describe('what transfers are worth', () => {
  it('takes a moment for those of thousands to thousands', () => {
    const addresses = Array.from({ length: 10_000 }, (_, number) => account(number));
    const transfers = addresses.map((from, index) => ({
      from: from as never,
      to: addresses[(index + 1) % addresses.length] as never,
      amount: 1n,
      log: { address: usdc as never, logIndex: BigInt(index) },
    }));
    expect(leastCpu(() => paidIn(transfers, () => false))).toBeLessThan(TURN_MAX_MS);
  });
});
