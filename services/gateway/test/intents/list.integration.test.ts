import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { listIntentsResponse } from '@pf/contracts';
import { createAccount, createKey } from '@pf/database';
import type { PublicIntent } from '@pf/domain';
import { type ApiClient, apiClient, type Cluster, type Instance, startCluster } from '@pf/testing';

// Each request waits for a real pipeline, on a machine that may be busy.
const ALICE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const BOB = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const CAROL = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const LIVE_USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const good = { chain: 'eip155:84532', token: 'USDC', amount: '1', requestor: ALICE };

describe('GET /intents', () => {
  let cluster: Cluster;
  let gateway: Instance;
  let api: ApiClient;
  let live: ApiClient;
  const client = (key: string | null): ApiClient => apiClient(`${gateway.url}/v1`, key);
  /** The intents by the property that distinguishes them. */
  const made = new Map<string, PublicIntent>();
  const idsOf = (...names: string[]): string[] => names.map((name) => made.get(name)?.id ?? name);

  beforeAll(async () => {
    cluster = await startCluster();
    [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent')]);
    api = client(cluster.apiKeys.test);
    live = client(cluster.apiKeys.live);
    const make = async (name: string, more: Record<string, unknown> = {}, by = api): Promise<void> => {
      made.set(name, (await by.create({ ...good, ...more })).body.intent);
    };
    // Created one after the other, because the list is in the order of creation.
    await make('plain');
    await make('euro', { token: 'EURC' });
    await make('sent', { direction: 'send', fulfiller: CAROL });
    await make('to bob', { requestor: BOB });
    await make('ordered', { metadata: { order: 'A&B=1', shop: 'größe' } });
    await make('shop', { metadata: { shop: 'größe', note: '' } });
    await make('paid');
    made.set('paid', (await api.simulate(made.get('paid')?.id ?? '', 'confirmed')).body.intent);
    await make('cancelled');
    made.set('cancelled', (await api.cancel(made.get('cancelled')?.id ?? '')).body.intent);
    await make('live', { chain: 'eip155:8453' }, live);
  });
  afterAll(() => cluster.close());

  /** The ids that a query returns. */
  async function list(query: string, by = api): Promise<readonly string[]> {
    const { status, body } = await by.list(query);
    expect([status, body.error]).toEqual([200, undefined]);
    return listIntentsResponse.parse(body).intents.map(({ id }) => id);
  }
  const all = ['cancelled', 'paid', 'shop', 'ordered', 'to bob', 'sent', 'euro', 'plain'];

  it('has shorter pages of intents with much metadata, and misses none of them', async () => {
    const { id: accountId } = await createAccount(cluster.database, { name: 'wordy' });
    const wordy = client((await createKey(cluster.database, { accountId, livemode: false })).key);
    // Almost the longest in JSON that is accepted: 40 KB of it.
    const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`key_${n}`, '🪙'.repeat(500)]));
    const ids: string[] = [];
    for (let n = 0; n < 100; n += 10) {
      const created = Array.from({ length: 10 }, () => wordy.create({ ...good, metadata }));
      for (const { body } of await Promise.all(created)) ids.push(body.intent.id);
    }
    const pages: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null && pages.length < 100;) {
      const { body }: Awaited<ReturnType<ApiClient['list']>> = await wordy.list(
        `limit=100${cursor && `&cursor=${cursor}`}`,
      );
      const { intents, hasMore, nextCursor } = listIntentsResponse.parse(body);
      expect(hasMore).toBe(nextCursor !== null);
      expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(1.1 * 1024 * 1024);
      pages.push(intents.map(({ id }) => id));
      cursor = nextCursor;
    }
    expect(pages.map(({ length }) => length)).toEqual([25, 25, 25, 25]);
    expect(pages.flat().sort()).toEqual(ids.sort());
  });

  it('returns the current intents of the account in the mode of the key, newest first', async () => {
    const { body } = await api.list();
    expect(body).toEqual({ intents: all.map((name) => made.get(name)), hasMore: false, nextCursor: null });
    expect(await list('', live)).toEqual(idsOf('live'));
    const { id: accountId } = await createAccount(cluster.database, { name: 'stranger' });
    const stranger = client((await createKey(cluster.database, { accountId, livemode: false })).key);
    expect((await stranger.list(`reference=${made.get('plain')?.reference}`)).body).toEqual({
      intents: [],
      hasMore: false,
      nextCursor: null,
    });
  });

  it('pages without gaps or repeats while intents are created and changed', async () => {
    const seen: string[] = [];
    let query = 'limit=3';
    for (;;) {
      const { body } = await api.list(query);
      seen.push(...body.intents.map(({ id }) => id));
      expect(body.hasMore).toBe(body.nextCursor !== null);
      if (body.nextCursor === null) break;
      made.set(
        `meanwhile ${seen.length}`,
        (await api.create({ ...good, token: 'EURC', metadata: { meanwhile: 'yes' } })).body.intent,
      );
      query = `limit=3&cursor=${body.nextCursor}`;
    }
    expect(seen).toEqual(idsOf(...all));
    // A cursor is a position in time, so it is valid with other filters too.
    const { nextCursor } = (await api.list('limit=1&metadata[shop]=größe')).body;
    expect(await list(`cursor=${nextCursor}&token=EURC`)).toEqual(idsOf('euro'));
  });

  const filters: readonly [query: string, names: readonly string[]][] = [
    ['state=confirmed', ['paid']],
    ['state=cancelled&state=confirmed&state=failed', ['cancelled', 'paid']],
    ['state=cancelled&state=cancelled', ['cancelled']],
    ['state=finalized', []],
    ['token=eurc&createdBefore=$meanwhile', ['euro']],
    [`token=${USDC}&state=confirmed`, ['paid']],
    [`token=${USDC.toLowerCase()}&state=confirmed`, ['paid']],
    [`token=${LIVE_USDC}&state=confirmed`, ['paid']],
    ['chain=eip155:84532&state=confirmed', ['paid']],
    ['chain=eip155:8453&state=confirmed', ['paid']],
    ['chain=eip155:8453&token=USDC&direction=send', ['sent']],
    ['chain=eip155:42431', []],
    ['chain=solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', []],
    ['direction=send', ['sent']],
    [`requestor=${BOB}`, ['to bob']],
    [`requestor=${BOB.toLowerCase()}`, ['to bob']],
    [`requestor=0x${BOB.slice(2).toUpperCase()}`, ['to bob']],
    [`fulfiller=${CAROL.toLowerCase()}`, ['sent']],
    [`fulfiller=${ALICE}`, []],
    ['reference=$reference', ['plain']],
    ['txSignature=$hash', ['paid']],
    ['createdBefore=$euro', ['plain']],
    ['createdAfter=$plain&createdBefore=$sent', ['euro']],
    ['createdBefore=1970-01-01T00:00:00Z', []],
    ['createdBefore=0000-01-01T00:00:00Z', []],
    ['createdAfter=9999-12-31T23:59:59.999Z', []],
    ['metadata[shop]=größe', ['shop', 'ordered']],
    ['metadata[shop]=größe&metadata[order]=A%26B%3D1', ['ordered']],
    ['metadata%5Bshop%5D=gr%C3%B6%C3%9Fe&limit=1', ['shop']],
    ['metadata[note]=', ['shop']],
    ['metadata[shop]=gr', []],
    ['metadata[shop]=größe&state=created&direction=request', ['shop', 'ordered']],
    ['metadata[shop]=größe&createdBefore=$shop', ['ordered']],
  ];
  it.each(filters)('filters by ?%s', async (query, names) => {
    const at = (name: string): string => encodeURIComponent(made.get(name)?.createdAt ?? '');
    const hash = made.get('paid')?.txSignature?.toUpperCase().replace('0X', '0x') ?? '';
    const reference = made.get('plain')?.reference.toUpperCase().replace('0X', '0x') ?? '';
    const filled = query
      .replace('$reference', reference)
      .replace('$hash', hash)
      .replace('$meanwhile', at('sent'))
      .replace(/\$(\w+)/g, (_, name: string) => at(name));
    expect(await list(filled)).toEqual(idsOf(...names));
  });

  /** `~41` stands for 41 characters. */
  const refused: readonly [query: string, param: string, says: RegExp][] = [
    ['limit=0', 'limit', /from 1 to 100/],
    ['limit=101', 'limit', /from 1 to 100/],
    ['limit=-1', 'limit', /from 1 to 100/],
    ['limit=1e2', 'limit', /from 1 to 100/],
    ['limit=', 'limit', /from 1 to 100/],
    ['limit=5&limit=6', 'limit', /must not be repeated/],
    ['cursor=nonsense', 'cursor', /nextCursor/],
    ['cursor=', 'cursor', /nextCursor/],
    [`cursor=${Buffer.from('["x","y"]').toString('base64url')}`, 'cursor', /nextCursor/],
    [`cursor=${Buffer.from('[1e300,"pi_x"]').toString('base64url')}`, 'cursor', /nextCursor/],
    [`cursor=${Buffer.from(`[1,"'; DROP TABLE x"]`).toString('base64url')}`, 'cursor', /nextCursor/],
    ['cursor=~500', 'cursor', /nextCursor/],
    ['state=paid', 'state', /one of created/],
    ['state=created&state=', 'state', /one of created/],
    ['chain=base', 'chain', /CAIP-2/],
    ['direction=both', 'direction', /"request" or "send"/],
    ['requestor=alice', 'requestor', /EVM address/],
    [`requestor=${ALICE.replace('C5', 'c5')}`, 'requestor', /checksum/],
    [`fulfiller=0x${'0'.repeat(40)}`, 'fulfiller', /zero address/],
    ['requestor=~201', 'requestor', /wallet address/],
    ['reference=0x12', 'reference', /64 hexadecimal/],
    ['txSignature=0x12', 'txSignature', /64 hexadecimal/],
    ['createdAfter=yesterday', 'createdAfter', /ISO 8601/],
    ['createdAfter=2026-11-21', 'createdAfter', /ISO 8601/],
    ['createdBefore=1763720000', 'createdBefore', /ISO 8601/],
    ['metadata=x', 'metadata', /metadata\[key\]=value/],
    ['metadata[]=x', 'metadata.', /invalid key/],
    ['metadata[__proto__]=x', 'metadata.__proto__', /not an allowed key/],
    ['metadata[~41]=x', `metadata.${'x'.repeat(41)}`, /1 to 40/],
    ['metadata[a]=~501', 'metadata.a', /500/],
    ['metadata[a]=%00', 'metadata.a', /U\+0000/],
    [Array.from({ length: 21 }, (_, n) => `metadata[k${n}]=x`).join('&'), 'metadata', /at most 20/],
    ['status=created', 'status', /not a parameter/],
    ['state[]=created', 'state[]', /not a parameter/],
    ['__proto__=x', '__proto__', /not a parameter/],
    ['constructor=x', 'constructor', /not a parameter/],
    ['limit[toString]=x', 'limit[toString]', /not a parameter/],
  ];
  it.each(refused)('returns 400 for ?%s', async (query, param, says) => {
    const { status, body } = await api.list(query.replace(/~(\d+)/, (_, length: string) => 'x'.repeat(Number(length))));
    expect([status, body.error]).toMatchObject([
      400,
      { code: 'request.validation_failed', param, message: expect.stringMatching(says) },
    ]);
  });

  it('lists the available chains and tokens if the filter cannot match any', async () => {
    expect(await api.list('chain=eip155:1')).toMatchObject({
      status: 422,
      body: {
        error: {
          code: 'chain.not_available',
          param: 'chain',
          details: { available: expect.arrayContaining(['eip155:84532', 'eip155:42431']) },
        },
      },
    });
    expect(await live.list('chain=eip155:84532')).toMatchObject({
      status: 422,
      body: { error: { code: 'chain.not_available', message: expect.stringMatching(/testnet.*live key/) } },
    });
    expect(await api.list('token=DOGE')).toMatchObject({
      status: 422,
      body: { error: { code: 'token.not_available', param: 'token' } },
    });
    expect(await api.list('chain=eip155:84532&token=pathUSD')).toMatchObject({
      status: 422,
      body: { error: { code: 'token.not_available', message: expect.stringMatching(/USDC or EURC/) } },
    });
  });

  it('requires a key with the scope full', async () => {
    const payer = client(
      (await createKey(cluster.database, { accountId: cluster.accountId, livemode: false, scope: 'payer' })).key,
    );
    expect(await client(null).list()).toMatchObject({ status: 401, body: { error: { code: 'api_key.missing' } } });
    expect(await client('pk_test_x').list()).toMatchObject({
      status: 401,
      body: { error: { code: 'api_key.invalid' } },
    });
    expect(await payer.list()).toMatchObject({ status: 401, body: { error: { code: 'api_key.insufficient_scope' } } });
  });
});
