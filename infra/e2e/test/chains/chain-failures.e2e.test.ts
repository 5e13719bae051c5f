import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicIntent, Reference } from '@pf/domain';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  type Instance,
  isBehindProviders,
  readBackingStack,
  type StackWallet,
  startCluster,
  until,
} from '@pf/testing';
import { walletOn } from '@pf/testing/wallets';
import { type Name, NAMES } from '../chain-names.ts';
import { startTroubled, type TroubledChain } from './troubled-chain.ts';

const AMOUNT = '3';
const UNITS = 3_000_000n;

let cluster: Cluster;
let watcher: Instance;
let api: ApiClient;
const troubled = new Map<Name, TroubledChain>();

const on = (name: Name): TroubledChain => troubled.get(name) as TroubledChain;
const requestorOn = (name: Name): string => on(name).chain.wallets[0]?.address ?? '';
async function create(name: Name): Promise<PublicIntent> {
  const { status, body } = await api.create({
    chain: on(name).chain.caip2,
    token: 'USDC',
    amount: AMOUNT,
    requestor: requestorOn(name),
  });
  expect([status, body.error]).toEqual([201, undefined]);
  return body.intent;
}
/** Produces blocks until the intent satisfies `good`. */
const passUntil = (
  name: Name,
  what: string,
  id: string,
  good: (intent: PublicIntent) => boolean,
): Promise<PublicIntent> =>
  until(`${id} to be ${what}`, async () => {
    await on(name).pass();
    const { intent } = (await api.get(id)).body;
    return good(intent) && intent;
  });
const finalized = (name: Name, id: string): Promise<PublicIntent> =>
  passUntil(name, 'finalized', id, ({ state }) => state === 'finalized');
async function history(id: string): Promise<string[]> {
  const { rows } = await cluster.database.sql.query<{ type: string }>(
    'SELECT type FROM ledger.intent_events WHERE intent_id = $1 ORDER BY version',
    [id],
  );
  return rows.map(({ type }) => type);
}

beforeAll(async () => {
  await Promise.all(NAMES.map(async (name) => troubled.set(name, await startTroubled[name]())));
  cluster = await startCluster(
    readBackingStack(),
    NAMES.map((name) => on(name).chain),
  );
  const [gateway, , firstWatcher] = await Promise.all([
    cluster.start('gateway'),
    cluster.start('intent'),
    cluster.start('watcher'),
  ]);
  watcher = firstWatcher;
  api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
});
afterAll(async () => {
  await cluster.close();
  await Promise.all([...troubled.values()].map((chain) => chain.stop()));
});

const payers = new Map<Name, number>();
/** A new payer for each test, so that a blacklisted payer or a used nonce affects no other test. */
function newPayer(name: Name) {
  const { chain } = on(name);
  const index = (payers.get(name) ?? 0) + 1;
  payers.set(name, index);
  const key = chain.wallets[index] as StackWallet;
  const wallet = walletOn(chain, key);
  const usdc = chain.tokens['USDC'] ?? '';
  return {
    key,
    address: wallet.address,
    sign: (blob: string) => wallet.sign(blob),
    balance: () => wallet.tokenBalance(usdc),
    /** Pays without `submit`. */
    pay: ({ reference }: PublicIntent) => wallet.pay(usdc, requestorOn(name), UNITS, reference as Reference),
    async build(id: string): Promise<string> {
      const { status, body } = await api.build(id, wallet.address);
      expect([status, body.error]).toEqual([200, undefined]);
      return body.transaction.blob;
    },
    /** @returns a function that submits, and one that returns the intent of the last response */
    submitting(id: string) {
      const intents: PublicIntent[] = [];
      const submit = async (signed: string): Promise<string> => {
        const { status, body } = await api.submit(id, signed, wallet.address);
        expect([status, body.error]).toEqual([200, undefined]);
        intents.push(body.intent);
        return body.txSignature;
      };
      return { submit, lastIntent: () => intents.at(-1) as PublicIntent };
    },
  };
}

/** How many payments are dropped until the response to the broadcast of one has arrived. */
const DROPS_MOST = 5;

/**
 * Has the chain drop the payment of a new intent, whose broadcast a node has confirmed. Behind providers that lose
 * responses the payment may be dropped, or even proven to be, before the client asks again: then there is no such
 * response, and another intent is paid.
 */
async function drop(name: Name, payer: ReturnType<typeof newPayer>) {
  for (let left = DROPS_MOST; ; left -= 1) {
    const { id } = await create(name);
    const { submit, lastIntent } = payer.submitting(id);
    const blob = await payer.build(id);
    try {
      await on(name).lose(payer.key, blob, submit);
      expect(lastIntent()).toMatchObject({ state: 'pending', retryRequired: false });
      return { id, blob, submit, lastIntent };
    } catch (error) {
      if (!isBehindProviders() || left === 1) throw error;
    }
  }
}

describe.each(NAMES)('a faulty payment on %s', (name) => {
  it('fails its intent when it reverts', async () => {
    const payer = newPayer(name);
    const { id } = await create(name);
    const { submit, lastIntent } = payer.submitting(id);
    await on(name).fail(payer.key, await payer.build(id), submit);
    const { txSignature } = lastIntent();
    expect(await passUntil(name, 'failed', id, ({ state }) => state === 'failed')).toMatchObject({
      txSignature,
      confirmedAt: null,
    });
    expect(await history(id)).toEqual(['intent.created', 'intent.pending', 'intent.failed']);
  });

  it('is built again, signed again and paid when it was provably dropped', async () => {
    const payer = newPayer(name);
    const { id, blob: first, submit, lastIntent } = await drop(name, payer);
    const lost = lastIntent().txSignature;
    expect(await passUntil(name, 'created again', id, ({ state }) => state === 'created')).toMatchObject({
      retryRequired: true,
      txSignature: null,
    });

    const second = await payer.build(id);
    expect(second).not.toBe(first);
    expect(await submit(await payer.sign(second))).not.toBe(lost);
    expect(lastIntent().retryRequired).toBe(false);
    await finalized(name, id);
    expect(await history(id)).toEqual([
      'intent.created',
      'intent.pending',
      'intent.retry_required',
      'intent.pending',
      'intent.confirmed',
      'intent.finalized',
    ]);
  });

  it('confirms a cancelled intent when it lands after all', async () => {
    const payer = newPayer(name);
    const intent = await create(name);
    expect((await api.cancel(intent.id)).body.intent.state).toBe('cancelled');
    const hash = await payer.pay(intent);
    expect(await finalized(name, intent.id)).toMatchObject({ txSignature: hash, fulfiller: payer.address });
    expect(await history(intent.id)).toEqual([
      'intent.created',
      'intent.cancelled',
      'intent.confirmed',
      'intent.late_payment',
      'intent.finalized',
    ]);
  });
});

// Tempo has no reorgs: a block is final.
describe.each(['base', 'solana'] as const)('a confirmed payment on %s', (name) => {
  it('stays confirmed when a reorg removes it, and lands again', async () => {
    const payer = newPayer(name);
    const { id } = await create(name);
    const { submit } = payer.submitting(id);
    await submit(await payer.sign(await payer.build(id)));
    await on(name).pass();
    // On Base, confirmed takes two seconds without a reorg. No further blocks meanwhile, or it would be final.
    await until('confirmed', async () => (await api.get(id)).body.intent.state === 'confirmed');
    const paid = await payer.balance();
    await on(name).orphan?.();
    expect(await payer.balance()).toBe(paid + UNITS);
    await finalized(name, id);
    expect(await history(id)).toEqual(['intent.created', 'intent.pending', 'intent.confirmed', 'intent.finalized']);
  });
});

describe('payments made while the watcher is down', () => {
  it('are found on every chain after its restart', async () => {
    const intents = await Promise.all(NAMES.map(async (name) => ({ name, intent: await create(name) })));
    watcher.kill('SIGKILL');
    await watcher.exited;
    for (const { name, intent } of intents) {
      await newPayer(name).pay(intent);
      for (let blocks = 0; blocks < 3; blocks++) await on(name).pass();
    }
    watcher = await cluster.start('watcher');
    for (const { name, intent } of intents) {
      await finalized(name, intent.id);
      expect(await history(intent.id)).toEqual([
        'intent.created',
        'intent.pending',
        'intent.confirmed',
        'intent.finalized',
      ]);
    }
  });
});
