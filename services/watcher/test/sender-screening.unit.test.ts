import { describe, expect, it } from '@jest/globals';
import { UNSPLIT, type UnscreenedPayments } from '@pf/database';
import type { Address, IntentEvent } from '@pf/domain';
import { events, samples, watcher, type ExpectedEvent } from '@pf/domain/testing';
import { createLogger } from '@pf/runtime';
import type { Screening } from '@pf/screening';
import { screenSenders, unscreenedAmong } from '../src/sender-screening.ts';
import { WatchedIntents } from '../src/watched-intents.ts';

const { ACCOUNT, BASE_SEPOLIA, BOB, CAROL, FIRST, INTENT, SCENARIO_START, SECOND } = samples;

function watchedAfter(...told: readonly ExpectedEvent[]): WatchedIntents {
  const set = new WatchedIntents(86_400_000, UNSPLIT);
  for (const [at, { type, data }] of told.entries())
    set.apply({ type, data, intentId: INTENT, version: at + 1, at: SCENARIO_START + at * 1_000 } as IntentEvent);
  return set;
}

describe('The screening of senders after a payment', () => {
  // Bob submits, and was screened then.
  const submitted = watchedAfter(events.created(), events.prepared(FIRST));

  it('covers whoever pays in a submitted transaction beside the wallet that was screened', () => {
    const bundle = [
      watcher.landed(FIRST, { from: CAROL, index: '0' }),
      watcher.landed(FIRST, { from: BOB, index: '1' }),
    ];
    expect(unscreenedAmong(bundle, BASE_SEPOLIA, submitted)).toEqual([
      { chain: BASE_SEPOLIA, hash: FIRST, sender: CAROL, intentId: INTENT, accountId: ACCOUNT, livemode: false },
    ]);
  });

  it('leaves out the wallet that was screened, in whatever case its address is written', () => {
    const written = watcher.landed(FIRST, { from: BOB.toLowerCase() as Address });
    expect(unscreenedAmong([written], BASE_SEPOLIA, submitted)).toEqual([]);
  });

  it('covers the sender of any other transaction, and of one for an intent that is not known', () => {
    const other = watcher.landed(SECOND, { from: BOB });
    expect(unscreenedAmong([other], BASE_SEPOLIA, submitted)).toMatchObject([{ hash: SECOND, sender: BOB }]);
    expect(unscreenedAmong([watcher.landed(FIRST)], BASE_SEPOLIA, watchedAfter())).toMatchObject([
      { hash: FIRST, sender: BOB, accountId: null, livemode: null },
    ]);
  });

  it('goes on with the others where one cannot be screened, and says why in the end', async () => {
    const cleared: string[] = [];
    const waiting = [CAROL, BOB].map((sender) => ({ chain: BASE_SEPOLIA, hash: FIRST, sender, intentId: INTENT }));
    const payments = {
      waiting: async () => waiting,
      clear: async ({ sender }: { sender: string }) => void cleared.push(sender),
    } as unknown as UnscreenedPayments;
    const screening = {
      screen: async ([{ address }]: readonly [{ address: string }]) => {
        if (address === CAROL) throw new Error('the provider does not know this kind of address');
        return { kind: 'clean' };
      },
    } as unknown as Screening;
    const log = createLogger('test', 'silent');
    const run = screenSenders({ payments, screening, chains: [BASE_SEPOLIA], log }, new AbortController().signal);
    await expect(run).rejects.toThrow('the provider does not know this kind of address');
    expect(cleared).toEqual([BOB]);
  });

  it('covers nothing that did not land', () => {
    expect(unscreenedAmong([watcher.reverted(SECOND)], BASE_SEPOLIA, submitted)).toEqual([]);
  });
});
