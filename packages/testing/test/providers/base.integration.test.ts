import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Anvil, startAnvil } from '../../src/chains/index.ts';
import { type Client, error, Providers, refusal, refusalOfArray, times } from './client.ts';

let anvil: Anvil;
const providers = new Providers(() => anvil.rpcUrl);
beforeAll(async () => {
  anvil = await startAnvil();
});
afterEach(() => providers.stop());
afterAll(() => anvil.stop());

const CHAIN_ID = '0x14a34';
const hex = (value: number): string => `0x${value.toString(16)}`;
/** eth_getLogs over so many blocks, the first and the last included. */
const logsOver = (blocks: number, filter: object = {}) =>
  ['eth_getLogs', { fromBlock: '0x0', toBlock: hex(blocks - 1), ...filter }] as const;
const heads = (count: number) => times(count, ['eth_blockNumber'] as const);
const lengthOf = ({ json }: { readonly json: unknown }): number => (json as readonly unknown[]).length;

/** Signs a transfer that the node has not seen. */
async function signed(wallet: number): Promise<string> {
  const account = privateKeyToAccount(anvil.wallets[wallet]?.privateKey as Hex);
  return account.signTransaction({
    type: 'eip1559',
    chainId: Number(CHAIN_ID),
    nonce: Number(await anvil.rpc<string>('eth_getTransactionCount', account.address, 'latest')),
    to: account.address,
    gas: 21_000n,
    maxFeePerGas: 10n ** 10n,
  });
}
const head = async (client: Pick<Client, 'call'>): Promise<number> =>
  Number(((await client.call('eth_blockNumber')).json as { result: string }).result);

describe('a provider without a limit reached', () => {
  it('passes calls and arrays to the node, and its errors back', async () => {
    const client = await providers.start('cdp');
    expect(await client.call('eth_chainId')).toMatchObject({
      status: 200,
      json: { jsonrpc: '2.0', id: 7, result: CHAIN_ID },
    });
    expect((await client.array([['eth_chainId'], ['eth_nothing']])).json).toMatchObject([
      { id: 0, result: CHAIN_ID },
      { id: 1, error: { code: -32_601 } },
    ]);
  });

  it('refuses anything but JSON-RPC', async () => {
    const { url } = await providers.start('cdp');
    for (const body of ['{', '[]', '{"method":1}']) {
      const response = await fetch(url, { method: 'POST', body });
      expect({ body, status: response.status, json: await response.json() }).toEqual({
        body,
        status: 400,
        json: refusalOfArray(-32_700, 'parse error'),
      });
    }
  });

  it('has no limits but its own', async () => {
    await expect(providers.start('cdp', { limits: { logBlock: 1 } })).rejects.toThrow(
      'The profile has no limit logBlock. It has logBlocks.',
    );
  });
});

describe('quicknode on Base', () => {
  it('fills arrays as far as the calls of the second go', async () => {
    const client = await providers.start('quicknode');
    const message =
      '15/second request limit reached - reduce calls per second or upgrade your account at quicknode.com';
    const full = await client.array(heads(17));
    expect(full.status).toBe(200);
    expect((full.json as { error?: unknown }[]).map((item) => item.error)).toEqual([
      ...times(15, undefined),
      ...times(2, error(-32_007, message)),
    ]);
    expect(await client.call('eth_chainId')).toMatchObject({ status: 429, json: refusal(-32_007, message) });
    providers.now += 1_000;
    expect((await client.call('eth_chainId')).status).toBe(200);
  });

  it('refuses the logs of six blocks', async () => {
    const client = await providers.start('quicknode');
    expect((await client.call(...logsOver(5))).json).toHaveProperty('result');
    expect(await client.call(...logsOver(6))).toMatchObject({
      status: 413,
      json: refusal(-32_614, 'eth_getLogs is limited to a 5 range'),
    });
  });
});

describe('alchemy-free', () => {
  const tooMuch =
    'Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore ' +
    'this message. If not, check out https://docs.alchemy.com/reference/throughput';

  it('suggests ten blocks for the logs of eleven', async () => {
    const client = await providers.start('alchemy-free');
    expect((await client.call(...logsOver(10))).status).toBe(200);
    expect(await client.call('eth_getLogs', { fromBlock: '0x5', toBlock: '0xf' })).toMatchObject({
      status: 400,
      json: refusal(
        -32_600,
        'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your ' +
          'parameters, this block range should work: [0x5, 0xe]. Upgrade to PAYG for expanded block range.',
      ),
    });
  });

  it('shuffles arrays and throttles items beyond 500 compute units a second', async () => {
    const client = await providers.start('alchemy-free');
    const { status, json } = await client.array(heads(30));
    const items = json as { readonly id: number; readonly error?: unknown }[];
    const ids = items.map(({ id }) => id);
    expect(status).toBe(200);
    expect(ids).not.toEqual(ids.toSorted((a, b) => a - b));
    expect(ids.toSorted((a, b) => a - b)).toEqual(heads(30).map((_, id) => id));
    const throttled = items.filter((item) => item.error !== undefined);
    expect(throttled.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual([25, 26, 27, 28, 29]);
    expect(throttled[0]).toMatchObject({ error: error(429, tooMuch) });
    expect(await client.call('eth_chainId')).toMatchObject({ status: 429, json: refusal(429, tooMuch) });
    const same = await providers.start('alchemy-free');
    expect(((await same.array(heads(30))).json as typeof items).map(({ id }) => id)).toEqual(ids);
    const other = await providers.start('alchemy-free', { seed: 2 });
    expect(((await other.array(heads(30))).json as typeof items).map(({ id }) => id)).not.toEqual(ids);
  });

  it('refuses in plain text once the month is spent, until the next', async () => {
    const client = await providers.start('alchemy-free', { limits: { unitsPerMonth: 40 } });
    await client.array(heads(2));
    const spent = await client.call('eth_chainId');
    expect([spent.status, spent.json, spent.headers.get('content-type')]).toEqual([429, undefined, 'text/plain']);
    providers.now += 30 * 86_400_000;
    expect((await client.call('eth_chainId')).status).toBe(200);
  });
});

describe('infura', () => {
  it('throttles with a number of seconds, and with 402 once the day is spent', async () => {
    const client = await providers.start('infura', { limits: { creditsPerDay: 960 } });
    for (const _ of times(6, null)) expect((await client.call('eth_chainId')).status).toBe(200);
    expect(await client.call('eth_chainId')).toMatchObject({
      status: 429,
      json: refusal(-32_005, 'project ID request rate exceeded', { backoff_seconds: 30 }),
    });
    providers.now += 1_000;
    for (const _ of times(5, null)) expect((await client.call('eth_chainId')).status).toBe(200);
    expect(await client.call('eth_chainId')).toMatchObject({
      status: 402,
      json: refusal(402, 'daily request count exceeded, request rate limited'),
    });
  });

  it('refuses 10,001 blocks, 10,001 results and 5,001 filters', async () => {
    const client = await providers.start('infura', { limits: { logResults: 3 } });
    expect(await client.call(...logsOver(10_001))).toMatchObject({
      status: 200,
      json: refusal(-32_602, 'range 10001 exceeds limit of 10000'),
    });
    providers.now += 1_000;
    const { json } = await client.call('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' });
    const message = /^query returned more than 3 results\. Try with this block range \[0x0, (0x[0-9a-f]+)\]\.$/;
    expect(json).toEqual(refusal(-32_005, expect.stringMatching(message)));
    const [, last] = message.exec((json as { error: { message: string } }).error.message) ?? [];
    providers.now += 1_000;
    expect((await client.call('eth_getLogs', { fromBlock: '0x0', toBlock: last })).json).toHaveProperty('result');
    providers.now += 1_000;
    const topics = [Array.from({ length: 5_000 }, (_, index) => hex(index).padEnd(66, '0'))];
    const address = `0x${'11'.repeat(20)}`;
    expect(await client.call('eth_getLogs', { address, topics })).toMatchObject({
      json: refusal(-32_602, 'This query contains 5001 filters. The current limit is 5000.'),
    });
  });
});

describe('cdp', () => {
  it('refuses the logs of 1,001 blocks', async () => {
    const client = await providers.start('cdp');
    expect((await client.call(...logsOver(1_000))).json).toHaveProperty('result');
    expect(await client.call(...logsOver(1_001))).toMatchObject({
      status: 200,
      json: refusal(-32_005, 'please limit the query to at most 1000 blocks'),
    });
  });
});

describe('base-public', () => {
  it('refuses eleven calls by one object, with HTTP 200 first and 413 from then on', async () => {
    const client = await providers.start('base-public', { limits: { withoutNode: 0 } });
    expect(lengthOf(await client.array(heads(10)))).toBe(10);
    const answers = [await client.array(heads(11)), await client.array(heads(11)), await client.array(heads(12))];
    expect(answers.map(({ status }) => status)).toEqual([200, 413, 413]);
    for (const { json } of answers)
      expect(json).toEqual(refusalOfArray(-32_014, 'too many RPC calls in batch request'));
  });

  it('lowers its range of logs from 2,000 to 500', async () => {
    const client = await providers.start('base-public', { limits: { queriesUntilLater: 2, withoutNode: 0 } });
    expect((await client.call(...logsOver(2_001))).status).toBe(200);
    expect(await client.call(...logsOver(2_002))).toMatchObject({
      status: 413,
      json: refusal(-32_614, 'eth_getLogs is limited to a 2,000 range'),
    });
    expect((await client.call(...logsOver(501))).status).toBe(200);
    expect(await client.call(...logsOver(502))).toMatchObject({
      status: 413,
      json: refusal(-32_614, 'eth_getLogs is limited to a 500 range'),
    });
  });

  it('throttles, loses its nodes, and wraps the 429 of its sequencer', async () => {
    const client = await providers.start('base-public', { limits: { callsPerSecond: 4, withoutNode: 0 } });
    for (const _ of times(2, null))
      expect(await client.call('eth_sendRawTransaction', '0x00')).toMatchObject({ json: { error: { code: -32_602 } } });
    expect(await client.call('eth_sendRawTransaction', '0x00')).toMatchObject({
      status: 200,
      json: refusal(-32_000, '429 Too Many Requests: {"code":-32016,"message":"over rate limit"}'),
    });
    expect((await client.call('eth_chainId')).status).toBe(200);
    expect(await client.call('eth_chainId')).toMatchObject({ status: 429, json: refusal(-32_016, 'over rate limit') });
    const down = await providers.start('base-public', { limits: { withoutNode: 1 } });
    expect(await down.call('eth_chainId')).toMatchObject({
      status: 503,
      json: refusal(-32_011, 'no backend is currently healthy to serve traffic'),
    });
  });
});

describe('base-pool', () => {
  /** The responses of its three nodes to one call, that at the head first. */
  async function ofAll(client: Client, ...[method, ...params]: readonly [string, ...unknown[]]): Promise<unknown[]> {
    const all: (readonly [number, unknown])[] = [];
    for (const _ of times(3, null)) {
      const { json } = await client.array([['eth_blockNumber'], [method, ...params]]);
      const [{ result }, response] = json as [{ result: string }, { result?: unknown; error?: unknown }];
      all.push([Number(result), response.error ?? response.result]);
    }
    return all.toSorted(([a], [b]) => b - a).map(([, response]) => response);
  }

  it('responds from nodes at the head, one and three blocks behind it, once in each round', async () => {
    const client = await providers.start('base-pool');
    await anvil.mine(4);
    const newest = Number(await anvil.rpc<string>('eth_blockNumber'));
    const rounds: number[][] = [];
    for (const _ of times(5, null)) rounds.push([await head(client), await head(client), await head(client)]);
    expect(rounds.map((round) => round.toSorted((a, b) => b - a))).toEqual(times(5, [newest, newest - 1, newest - 3]));
    expect(new Set(rounds.map(String)).size).toBeGreaterThan(1);
  });

  it('has a block on all nodes when no other has come for half a minute', async () => {
    const client = await providers.start('base-pool');
    const heads = async (): Promise<number[]> =>
      [await head(client), await head(client), await head(client)].toSorted((a, b) => a - b);
    await anvil.mine(4);
    const newest = Number(await anvil.rpc<string>('eth_blockNumber'));
    await heads();
    providers.now += 29_999;
    expect(await heads()).toEqual([newest - 3, newest - 1, newest]);
    providers.now += 1;
    expect(await heads()).toEqual(times(3, newest));
    await anvil.mine();
    expect(await heads()).toEqual([newest - 2, newest, newest + 1]);
  });

  it('has a receipt on one node only, until the others have the block', async () => {
    const client = await providers.start('base-pool', { limits: { retriedSends: 0 } });
    const hash = ((await client.call('eth_sendRawTransaction', await signed(0))).json as { result: string }).result;
    const seen = async (): Promise<boolean[]> =>
      (await ofAll(client, 'eth_getTransactionReceipt', hash)).map((receipt) => receipt !== null);
    await anvil.mine();
    expect(await seen()).toEqual([true, false, false]);
    await anvil.mine(2);
    expect(await seen()).toEqual([true, true, false]);
  });

  it('refuses logs beyond a lagging head, or leaves them out', async () => {
    const client = await providers.start('base-pool');
    // Two logs: Mint and Transfer.
    await anvil.asTokenOwner(anvil.tokens['USDC'] ?? '', 'mint', [anvil.wallets[0]?.address, 1n]);
    const at = await anvil.rpc<string>('eth_blockNumber');
    const responses = await ofAll(client, 'eth_getLogs', { fromBlock: at, toBlock: at });
    expect(responses[0]).toHaveLength(2);
    expect(responses.slice(1)).toHaveLength(2);
    expect(responses.slice(1)).toEqual(
      expect.arrayContaining([[], error(-32_602, 'block range extends beyond current head block')]),
    );
  });

  it('responds to a send that lands that its nonce is too low', async () => {
    const client = await providers.start('base-pool', { limits: { retriedSends: 1 } });
    const raw = await signed(1);
    expect(await client.call('eth_sendRawTransaction', raw)).toMatchObject({
      status: 200,
      json: refusal(-32_000, 'nonce too low'),
    });
    await anvil.mine();
    const block = await anvil.rpc<{ transactions: readonly string[] }>('eth_getBlockByNumber', 'latest', false);
    expect(block.transactions).toHaveLength(1);
  });
});

describe('base-flashblocks', () => {
  const ZERO_HASH = `0x${'0'.repeat(64)}`;

  it('has a receipt of success with a zero block hash before the block', async () => {
    const client = await providers.start('base-flashblocks');
    const hash = ((await client.call('eth_sendRawTransaction', await signed(2))).json as { result: string }).result;
    const open = { status: '0x1', blockHash: ZERO_HASH, blockNumber: hex((await head(client)) + 1) };
    expect((await client.call('eth_getTransactionReceipt', hash)).json).toMatchObject({ result: open });
    await anvil.mine();
    const sealed = (await client.call('eth_getTransactionReceipt', hash)).json;
    expect(sealed).toMatchObject({ result: { status: '0x1', blockNumber: open.blockNumber } });
    expect(sealed).not.toMatchObject({ result: { blockHash: ZERO_HASH } });
  });

  it('never seals one of a thousand, whose receipt is gone with the next block', async () => {
    const client = await providers.start('base-flashblocks', { limits: { neverSealed: 1 } });
    const hash = ((await client.call('eth_sendRawTransaction', await signed(3))).json as { result: string }).result;
    expect((await client.call('eth_getTransactionReceipt', hash)).json).toMatchObject({
      result: { status: '0x1', blockHash: ZERO_HASH },
    });
    await anvil.mine();
    for (const method of ['eth_getTransactionReceipt', 'eth_getTransactionByHash'])
      expect((await client.call(method, hash)).json).toMatchObject({ result: null });
    expect(await anvil.rpc('eth_getTransactionByHash', hash)).toBeNull();
  });
});

describe('publicnode-base', () => {
  const archive = refusal(
    -32_602,
    'Archive requests require a personal token. Get one at: https://www.allnodes.com/publicnode',
  );
  const address = (index: number): string => `0x${String(index).padStart(40, '0')}`;

  it('refuses old logs and states', async () => {
    const client = await providers.start('publicnode-base', { limits: { logDepth: 3, stateDepth: 2 } });
    const [at, query] = [await head(client), { address: address(1), toBlock: 'latest' }];
    expect((await client.call('eth_getLogs', { ...query, fromBlock: hex(at - 3) })).status).toBe(200);
    expect(await client.call('eth_getLogs', { ...query, fromBlock: hex(at - 4) })).toMatchObject({
      status: 403,
      json: archive,
    });
    expect((await client.call('eth_getBalance', address(1), hex(at - 2))).status).toBe(200);
    expect(await client.call('eth_getBalance', address(1), hex(at - 3))).toMatchObject({ status: 403, json: archive });
  });

  it('refuses ten addresses, none, 50,001 blocks, and receipts', async () => {
    const client = await providers.start('publicnode-base');
    const addresses = Array.from({ length: 10 }, (_, index) => address(index));
    const query = (list: readonly string[]) => client.call('eth_getLogs', { address: list });
    expect((await query(addresses.slice(1))).status).toBe(200);
    expect(await query(addresses)).toMatchObject({
      status: 403,
      json: refusal(-32_602, 'Request blocked. Details: blocked parameter: params.0.address.#'),
    });
    expect(await query([])).toMatchObject({ status: 403, json: refusal(-32_602, 'Please specify an address') });
    expect(await client.call(...logsOver(50_001, { address: address(1) }))).toMatchObject({
      status: 400,
      json: refusal(-32_701, 'exceed maximum block range: 50000'),
    });
    expect(await client.call('eth_getTransactionReceipt', `0x${'0'.repeat(64)}`)).toMatchObject({
      status: 403,
      json: refusal(-32_602, expect.stringMatching(/^Request blocked\. Details: /)),
    });
  });
});

describe('drpc-free', () => {
  it('refuses four calls, and logs at any width', async () => {
    const client = await providers.start('drpc-free', { limits: { timeouts: 0, internalErrors: 0, publicLimits: 0 } });
    expect(lengthOf(await client.array(heads(3)))).toBe(3);
    expect(await client.array(heads(4))).toMatchObject({
      status: 500,
      json: refusalOfArray(
        31,
        'Batch of more than 3 requests are not allowed on free tier, to use this feature register paid account at ' +
          'drpc.org',
      ),
    });
    expect(await client.call(...logsOver(1))).toMatchObject({
      status: 400,
      json: refusal(35, 'ranges over 10000 blocks are not supported on free plan'),
    });
  });

  it.each([
    ['timeouts', 408, 30, 'Request timeout on the free tier, please upgrade your tier to the paid one'],
    [
      'internalErrors',
      500,
      19,
      expect.stringMatching(/^Temporary internal error\. Please retry, trace-id: [0-9a-f]+$/),
    ],
    ['publicLimits', 200, 15, 'Public endpoint rate limit'],
  ] as const)('fails now and then: %s', async (name, status, code, message) => {
    const client = await providers.start('drpc-free', {
      limits: { timeouts: 0, internalErrors: 0, publicLimits: 0, [name]: 1 },
    });
    expect(await client.call('eth_chainId')).toMatchObject({ status, json: refusal(code, message) });
  });
});

describe('ankr-public', () => {
  it('refuses eleven calls and the logs of 1,001 blocks', async () => {
    const client = await providers.start('ankr-public');
    expect(lengthOf(await client.array(heads(10)))).toBe(10);
    expect(await client.array(heads(11))).toMatchObject({ status: 200, json: { id: null, error: { code: -32_600 } } });
    expect((await client.call(...logsOver(1_000))).json).toHaveProperty('result');
    expect(await client.call(...logsOver(1_001))).toMatchObject({
      status: 200,
      json: refusal(-32_600, 'block range is too wide'),
    });
  });
});

describe('envelopes', () => {
  it('spoils arrays in five ways, and then all responses in four', async () => {
    const waits: number[] = [];
    const client = await providers.start('envelopes', {
      limits: { spoilt: 1 },
      wait: (ms) => Promise.resolve(void waits.push(ms)),
    });
    const ids = ({ json }: { readonly json: unknown }): unknown[] => (json as { id: unknown }[]).map(({ id }) => id);
    const next = () => client.array(heads(3));
    expect(ids(await next())).toEqual([0, null, 2]);
    expect(ids(await next())).toEqual([0, 1]);
    expect(ids(await next())).toEqual([0, 1, 2, 0]);
    expect(ids(await next())).toEqual([2, 1, 0]);
    expect((await next()).json).toMatchObject({ id: 0 });
    const html = await next();
    expect([html.status, html.headers.get('content-type'), html.text]).toEqual([
      502,
      'text/html',
      expect.stringMatching(/^<html>.*502 Bad Gateway/),
    ]);
    const cut = await client.call('eth_chainId');
    expect([cut.status, cut.json, cut.text]).toEqual([200, undefined, expect.stringMatching(/^\{/)]);
    expect(await client.call('eth_chainId')).toMatchObject({ status: 200, text: '' });
    expect((await client.call('eth_chainId')).json).toEqual({ jsonrpc: '2.0', id: 7, result: CHAIN_ID });
    expect(waits).toEqual([30_000]);
  });
});

describe('two profiles at one URL', () => {
  it('do what each does, the second with what the first responds', async () => {
    const client = await providers.start('base-public+envelopes', { limits: { withoutNode: 0, batch: 2, spoilt: 1 } });
    expect((await client.array(heads(3))).json).toEqual([refusalOfArray(-32_014, expect.anything())]);
    // The second way to spoil an array leaves out its last item.
    expect((await client.array(heads(2))).json).toHaveLength(1);
  });

  it('are refused where they serve no chain together, one does not exist, or neither has a limit', async () => {
    await expect(providers.start('cdp+helius-free')).rejects.toThrow('"cdp+helius-free" serve no chain together');
    await expect(providers.start('cdp+envelope')).rejects.toThrow('there is no profile "envelope"');
    await expect(providers.start('cdp+envelopes', { limits: { batch: 1 } })).rejects.toThrow(
      'The profile has no limit batch. It has logBlocks, spoilt, stallMs.',
    );
  });
});
