import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { WebSocket } from 'ws';
import { type LocalSolana, startSolana } from '../../src/chains/index.ts';
import { until } from '../../src/until.ts';
import { type Client, error, Providers, refusal, refusalOfArray, times } from './client.ts';

let node: LocalSolana;
const providers = new Providers(() => node.rpcUrl);
beforeAll(async () => {
  node = await startSolana();
});
afterEach(() => providers.stop());
afterAll(() => node.stop());

const payer = (): string => node.wallets[0]?.address ?? '';
/** A signed transfer in base64. */
function transferAt(recentBlockhash: string): string {
  const keypair = Keypair.fromSecretKey(base58.decode(node.wallets[0]?.privateKey ?? ''));
  const { publicKey: payerKey } = keypair;
  const instructions = [SystemProgram.transfer({ fromPubkey: payerKey, toPubkey: payerKey, lamports: 1 })];
  const message = new TransactionMessage({ payerKey, recentBlockhash, instructions }).compileToV0Message();
  const transaction = new VersionedTransaction(message);
  transaction.sign([keypair]);
  return Buffer.from(transaction.serialize()).toString('base64');
}
const slots = (count: number) => times(count, ['getSlot'] as const);
const lengthOf = ({ json }: { readonly json: unknown }): number => (json as readonly unknown[]).length;
const resultOf = ({ json }: { readonly json: unknown }): unknown => (json as { result: unknown }).result;

describe('helius-free', () => {
  it('refuses arrays with 403 and one object', async () => {
    const client = await providers.start('helius-free');
    expect(await client.array(slots(1))).toMatchObject({
      status: 403,
      json: refusalOfArray(
        -32_403,
        'Batch requests are only available for paid plans. Please upgrade if you would like to gain access',
      ),
    });
  });

  it('throttles the eleventh call of a second, and the second send', async () => {
    const client = await providers.start('helius-free');
    const throttled = { status: 429, json: refusal(-32_429, 'rate limited') };
    const send = () => client.call('sendTransaction', 'AA==', { encoding: 'base64' });
    expect((await send()).status).toBe(200);
    expect(await send()).toMatchObject(throttled);
    for (const _ of times(9, null)) expect((await client.call('getSlot')).status).toBe(200);
    expect(await client.call('getSlot')).toMatchObject(throttled);
    providers.now += 1_000;
    expect((await client.call('getSlot')).status).toBe(200);
  });
});

describe('helius-paid', () => {
  it('refuses eleven items of history, and 101 transactions', async () => {
    const client = await providers.start('helius-paid', { limits: { callsPerSecond: 1_000 } });
    const history = (count: number) =>
      client.array(times(count, ['getSignaturesForAddress', payer(), { limit: 1 }] as const));
    const transactions = (count: number) => client.array(times(count, ['getTransaction', '1'.repeat(64)] as const));
    expect([lengthOf(await history(10)), lengthOf(await transactions(100))]).toEqual([10, 100]);
    for (const refused of [await history(11), await transactions(101)])
      expect(refused).toMatchObject({ status: 400, text: '' });
  });
});

describe('quicknode on Solana', () => {
  it('fills arrays as far as the calls of the second go', async () => {
    const client = await providers.start('quicknode');
    const message =
      '15/second request limit reached - reduce calls per second or upgrade your account at quicknode.com';
    const { status, json } = await client.array(slots(16));
    expect([status, (json as unknown[]).at(14), (json as unknown[]).at(15)]).toEqual([
      200,
      expect.objectContaining({ result: expect.any(Number) }),
      { jsonrpc: '2.0', id: 15, error: error(-32_007, message) },
    ]);
  });
});

describe('solana-public', () => {
  it('throttles the eleventh getTransaction of ten seconds', async () => {
    const client = await providers.start('solana-public');
    const look = () => client.call('getTransaction', '1'.repeat(64));
    for (const _ of times(10, null)) expect((await look()).status).toBe(200);
    const throttled = await look();
    expect(throttled).toMatchObject({
      status: 429,
      json: refusal(429, 'Too many requests for a specific RPC call'),
    });
    expect(
      ['retry-after', 'x-ratelimit-method-limit', 'x-ratelimit-rps-limit', 'x-ratelimit-conn-limit'].map((name) =>
        throttled.headers.get(name),
      ),
    ).toEqual(['10', '10', '100', '40']);
    expect((await client.call('getSlot')).status).toBe(200);
    providers.now += 10_000;
    expect((await look()).status).toBe(200);
  });
});

describe('solana-pool', () => {
  /** The responses of its three nodes to one call, that at the head first. */
  async function ofAll(client: Client, method: string, ...params: unknown[]): Promise<readonly unknown[]> {
    const all: (readonly [number, unknown])[] = [];
    for (const _ of times(3, null)) {
      const { json } = await client.array([
        [method, ...params],
        ['getSlot', { commitment: 'processed' }],
      ]);
      const [response, { result }] = json as [unknown, { result: number }];
      all.push([result, response]);
    }
    return all.toSorted(([a], [b]) => b - a).map(([, response]) => response);
  }
  const refused = (...of: Parameters<typeof refusal>) => ({ ...refusal(...of), id: 0 });

  it('responds from nodes at the head, 8 and 150 slots behind it', async () => {
    await node.advance(200);
    const client = await providers.start('solana-pool');
    const newest = await node.rpc<number>('getSlot', { commitment: 'confirmed' });
    expect(await ofAll(client, 'getSlot', { commitment: 'confirmed' })).toMatchObject(
      [newest, newest - 8, newest - 150].map((result) => ({ result })),
    );
    expect(await ofAll(client, 'getSlot', { commitment: 'confirmed', minContextSlot: newest })).toMatchObject([
      { result: newest },
      refused(-32_016, 'Minimum context slot has not been reached', { contextSlot: newest - 8 }),
      refused(-32_016, 'Minimum context slot has not been reached', { contextSlot: newest - 150 }),
    ]);
    expect(await ofAll(client, 'getHealth')).toMatchObject([
      { result: 'ok' },
      { result: 'ok' },
      refused(-32_005, 'Node is behind by 150 slots', { numSlotsBehind: 150 }),
    ]);
  });

  it('has a status on the first node only until the second has caught up, and never on the last', async () => {
    const client = await providers.start('solana-pool');
    const signature = await node.airdrop(payer(), 1n);
    const known = async (): Promise<readonly boolean[]> =>
      (await ofAll(client, 'getSignatureStatuses', [signature])).map(
        (one) => (one as { result: { value: unknown[] } }).result.value[0] !== null,
      );
    await node.advance(2);
    expect(await known()).toEqual([true, false, false]);
    await node.advance(160);
    expect(await known()).toEqual([true, true, false]);
  });

  it('lacks the newest blockhash on a lagging node', async () => {
    const client = await providers.start('solana-pool');
    const hashes = (await ofAll(client, 'getLatestBlockhash', { commitment: 'confirmed' })).map(
      (one) => (one as { result: { value: { blockhash: string } } }).result.value.blockhash,
    );
    expect(new Set(hashes).size).toBe(3);
    const valid = async (hash: string | undefined): Promise<readonly unknown[]> =>
      (await ofAll(client, 'isBlockhashValid', hash, { commitment: 'processed' })).map(
        (one) => (one as { result: { value: unknown } }).result.value,
      );
    expect(await valid(hashes[0])).toEqual([true, false, false]);
    expect(await valid(hashes[1])).toEqual([true, true, false]);

    const config = { encoding: 'base64', preflightCommitment: 'confirmed' };
    expect(await ofAll(client, 'sendTransaction', transferAt(hashes[0] ?? ''), config)).toMatchObject([
      { result: expect.any(String) },
      refused(-32_002, 'Transaction simulation failed: Blockhash not found'),
      refused(-32_005, 'Node is behind by 150 slots'),
    ]);
  });
});

describe('publicnode-solana', () => {
  it('refuses arrays with 400', async () => {
    const client = await providers.start('publicnode-solana');
    expect(await client.array(slots(1))).toMatchObject({ status: 400, text: '' });
  });

  it('lists the newest signatures, whatever came before', async () => {
    const client = await providers.start('publicnode-solana', { limits: { signatures: 3 } });
    const made: string[] = [];
    for (const _ of times(5, null)) {
      made.unshift(await node.airdrop(payer(), 1n));
      await node.advance();
    }
    const list = async (config: object): Promise<unknown[]> =>
      (
        resultOf(await client.call('getSignaturesForAddress', payer(), { commitment: 'confirmed', ...config })) as {
          signature: string;
        }[]
      ).map(({ signature }) => signature);
    expect(await list({})).toEqual(made.slice(0, 3));
    expect(await list({ before: made[2], limit: 2 })).toEqual(made.slice(0, 2));
  });
});

describe('streams', () => {
  /** A socket that subscribed to slots, and the numbers that it was notified of. */
  async function subscribed(url: string): Promise<{ readonly numbers: readonly number[]; close(): void }> {
    const numbers: number[] = [];
    let confirmed = false;
    const socket = new WebSocket(url.replace('http', 'ws'));
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { id?: number; params?: { result: { slot: number } } };
      if (message.id !== undefined) confirmed = true;
      if (message.params !== undefined) numbers.push(message.params.result.slot);
    });
    socket.on('open', () => socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'slotSubscribe' })));
    await until('the subscription is confirmed', () => confirmed);
    return { numbers, close: () => socket.terminate() };
  }

  it('keeps every second socket silent, and loses, repeats and delays notifications of the others', async () => {
    const { promise: late, resolve: release } = Promise.withResolvers<void>();
    const client = await providers.start('streams', { wait: () => late });
    expect((await client.call('getHealth')).json).toMatchObject({ result: 'ok' });
    const silent = await subscribed(client.url);
    const unreliable = await subscribed(client.url);
    for (const _ of times(8, null)) await node.advance();
    // Two are the gap; then one comes once, one twice, one late, one never, and so on.
    const { numbers } = unreliable;
    await until('six notifications have come', () => numbers.length === 6);
    const [one = 0] = numbers;
    expect(numbers).toEqual([one, one + 1, one + 1, one + 4, one + 5, one + 5]);
    release();
    await until('the late one has come', () => numbers.at(6) === one + 2);
    expect(silent.numbers).toEqual([]);
    for (const socket of [silent, unreliable]) socket.close();
  });
});
