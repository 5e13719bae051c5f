import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { networkOf, type SignedTransaction } from '@pf/chains';
import { newIntentId } from '@pf/contracts';
import type { AccountId, ChainId, TransactionHash } from '@pf/domain';
import type { Holder } from '../../src/api-keys.ts';
import { Looks } from '../../src/intents/looks.ts';
import { Waits } from '../../src/limits/waits.ts';

const holder: Holder = {
  keyId: 'key_1',
  accountId: 'acct_1' as AccountId,
  livemode: false,
  scope: 'client_secret',
  plan: 'free',
  expiresAt: null,
};
const hash = `0x${'11'.repeat(32)}` as TransactionHash;
const network = networkOf('eip155:84532' as ChainId);
const wanted = { id: newIntentId(0), hash, holder, ip: '192.0.2.1' };

describe('Looks', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** @param shownAt the look that finds it, counted from 0 */
  function looks(shownAt: number) {
    const asked: (number | undefined)[] = [];
    let counted = 0;
    const adapter = {
      network,
      fetchSent: async (_hash: TransactionHash, look?: number): Promise<SignedTransaction | null> => {
        asked.push(look);
        return look === shownAt ? { hash, raw: Uint8Array.of(2) } : null;
      },
    };
    const limiter = {
      admitLook: async () => {
        counted += 1;
      },
    };
    const finder = new Looks({ limiter, waits: new Waits() });
    /** Time goes on only until it has ended. */
    const find = async (): Promise<string> => {
      let outcome: string | null = null;
      void finder.find(adapter, wanted).then(
        () => (outcome = 'found'),
        ({ code }: { readonly code: string }) => (outcome = code),
      );
      await jest.advanceTimersByTimeAsync(0);
      while (outcome === null) await jest.advanceTimersByTimeAsync(100);
      return outcome;
    };
    return { asked, find, counted: () => counted };
  }

  it('ask one upstream at a time until one shows the transaction', async () => {
    const { asked, find, counted } = looks(2);
    expect(await find()).toBe('found');
    expect([asked, counted()]).toEqual([[0, 1, 2], 1]);
  });

  it('ask a node for few hashes of an account at a time, and judge what was found in the same turns', async () => {
    const { promise, resolve } = Promise.withResolvers<null>();
    const asked: string[] = [];
    const adapter = {
      network,
      fetchSent: (one: TransactionHash): Promise<null> => {
        asked.push(one);
        return promise;
      },
    };
    const finder = new Looks({ limiter: { admitLook: async () => undefined }, waits: new Waits() });
    const found = [1, 2, 3].map((n) =>
      finder.find(adapter, { ...wanted, id: newIntentId(0), hash: `0x${`1${n}`.repeat(32)}` as TransactionHash }),
    );
    await jest.advanceTimersByTimeAsync(0);
    const judged = finder.judge(holder, async () => void asked.push('judged'));
    const outcomes = Promise.allSettled([...found, judged]);
    await jest.advanceTimersByTimeAsync(0);
    expect(asked).toHaveLength(2);
    resolve(null);
    await jest.advanceTimersByTimeAsync(10_000);
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'fulfilled']);
  });

  it('end after eight requests, and ask for nothing while the hash is known to be absent', async () => {
    const { asked, find, counted } = looks(8);
    expect(await find()).toBe('transaction.not_visible');
    expect([asked, counted()]).toEqual([[0, 1, 2, 3, 4, 5, 6, 7], 1]);
    expect(await find()).toBe('transaction.not_visible');
    expect([asked.length, counted()]).toEqual([8, 1]);
    await jest.advanceTimersByTimeAsync(3_100);
    expect(await find()).toBe('transaction.not_visible');
    expect([asked.length, counted()]).toEqual([16, 2]);
  });
});
