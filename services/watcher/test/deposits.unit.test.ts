import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  depositIdOf,
  type DepositEnvelope,
  encodeDepositEvent,
  encodeEvent,
  eventIdOf,
  newIntentId,
} from '@pf/contracts';
import { UNSPLIT, type WatchedIntentSource, type WatchedWallet } from '@pf/database';
import {
  decideDeposit,
  decideDepositCommand,
  type Deposit,
  type DepositCommand,
  type DepositObservation,
  depositView,
  evolve,
  type IntentEvent,
  type PaymentIntent,
  view,
} from '@pf/domain';
import { deposits, events, samples } from '@pf/domain/testing';
import type { LogReader } from '@pf/event-log';
import { WatchSets } from '../src/watch-sets.ts';

const { ACCOUNT, ALICE, BASE_SEPOLIA, OTHER_ACCOUNT, SCENARIO_START } = samples;
const DAY_MS = 86_400_000;
const WATCH_MS = 30 * DAY_MS;
const WALLET_MS = 365 * DAY_MS;
const PARTITIONS = 6;
const arrival = deposits.arrival();
const id = depositIdOf(ACCOUNT, BASE_SEPOLIA, arrival, PARTITIONS);

/** The record of what an observation or command leads to, and the deposit after it. */
function logged(
  input: DepositObservation | DepositCommand,
  before?: Deposit,
): { readonly text: string; readonly after: Deposit } {
  const decision = input.kind === 'deposit' ? null : decideDepositCommand(input, SCENARIO_START, before);
  const decided =
    input.kind === 'deposit'
      ? decideDeposit(input, SCENARIO_START, before)
      : decision?.kind === 'accepted'
        ? decision.transition
        : null;
  if (!decided) throw new Error('nothing was decided');
  const { event, deposit } = decided;
  const envelope: DepositEnvelope = {
    eventId: eventIdOf(id, event.version),
    type: event.type,
    schemaVersion: 1,
    depositId: id,
    version: event.version,
    accountId: deposit.accountId,
    livemode: deposit.livemode,
    commandId: null,
    at: new Date(event.at).toISOString(),
    trace: { traceparent: null, requestId: null },
    data: event.data,
    deposit: depositView(deposit),
  };
  return { text: encodeDepositEvent(envelope), after: deposit };
}
const created = (accountId: typeof ACCOUNT): PaymentIntent =>
  evolve(undefined, {
    ...events.created(),
    data: { ...events.created().data, accountId },
    intentId: newIntentId(0),
    version: 1,
    at: SCENARIO_START,
  } as IntentEvent);

describe('A watch set that is asked for deposits', () => {
  let records: string[];
  let projected: { intents: PaymentIntent[]; deposits: Deposit[] };
  let wallets: WatchedWallet[];
  let now: number;
  beforeEach(() => {
    records = [];
    wallets = [];
    now = SCENARIO_START;
    projected = { intents: [created(ACCOUNT)], deposits: [] };
  });

  const setsOf = (partitions: number | null = PARTITIONS): WatchSets => {
    const source: WatchedIntentSource = {
      load: async (_chains, _closedAfter, each, _shard, resting) => {
        for (const intent of projected.intents)
          if (intent.closedAt !== null) resting?.each({ ...intent, closedAt: intent.closedAt });
          else each(intent);
        return new Map([[0, 0n]]);
      },
      openDeposits: async () => projected.deposits,
      rebuilds: async () => 0,
      wallets: async (_chains, after, _shard, each) => wallets.filter(({ until }) => until > after).forEach(each),
      keepWallets: async (some) => void wallets.push(...some),
      forgetWallets: async () => undefined,
      find: async () => [],
    };
    const reader = {
      endOffsets: async () => [BigInt(records.length)],
      appendedOffsets: async () => [BigInt(records.length)],
      read: async function* (_topic: string, _partition: number, from: bigint, end: bigint) {
        const some = records.slice(Number(from), Number(end));
        yield { records: some.map((value) => ({ value })), next: end };
      },
    } as unknown as LogReader;
    const asked = partitions === null ? null : { partitions, watchMs: WALLET_MS };
    return new WatchSets(source, reader, [BASE_SEPOLIA], WATCH_MS, () => now, {}, UNSPLIT, undefined, asked);
  };
  const open = async (sets: WatchSets) => {
    const set = await sets.synchronize(BASE_SEPOLIA);
    const found = [...set.openDeposits()].map((deposit) => deposit.id);
    set.release();
    return found;
  };

  it('follows those that are confirmed, from the projection and the log, until they are final or lost', async () => {
    const sets = setsOf();
    const received = logged(deposits.depositLanded({}, id));
    projected.deposits = [received.after];
    expect(await open(sets)).toEqual([id]);
    const lost = logged(deposits.depositLost(arrival, id), received.after);
    records.push(lost.text);
    expect(await open(sets)).toEqual([]);
    const again = logged(deposits.depositLanded({}, id), lost.after);
    records.push(again.text);
    expect(await open(sets)).toEqual([id]);
    records.push(logged(deposits.depositLanded({ level: 'finalized' }, id), again.after).text);
    expect(await open(sets)).toEqual([]);
  });

  it('goes on following one that its account ignores or reopens', async () => {
    const sets = setsOf();
    const received = logged(deposits.depositLanded({}, id));
    const ignored = logged(deposits.depositCommand('ignore_deposit', id), received.after);
    const reopened = logged(deposits.depositCommand('reopen_deposit', id), ignored.after);
    for (const { text } of [received, ignored, reopened]) {
      records.push(text);
      expect(await open(sets)).toEqual([id]);
    }
    projected.deposits = [ignored.after];
    records = [];
    expect(await open(setsOf())).toEqual([id]);
  });

  it('leaves alone what newer code has changed', async () => {
    const received = logged(deposits.depositLanded({}, id));
    records.push(received.text, received.text.replace('"deposit.received"', '"deposit.divided"'));
    expect(await open(setsOf())).toEqual([]);
  });

  it('changes only between steps', async () => {
    const sets = setsOf();
    const set = await sets.synchronize(BASE_SEPOLIA);
    records.push(logged(deposits.depositLanded({}, id)).text);
    await sets.follow();
    expect([...set.openDeposits()]).toEqual([]);
    set.release();
    expect([...set.openDeposits()]).toMatchObject([{ id }]);
  });

  it('names a deposit for each account whose intents name the recipient, open or at rest', async () => {
    projected.intents.push(created(OTHER_ACCOUNT));
    const set = await setsOf().synchronize(BASE_SEPOLIA);
    const third = 'acc_third' as typeof ACCOUNT;
    set.putAtRest({ ...created(third), closedAt: SCENARIO_START });
    expect(set.depositsOf(arrival)).toEqual(
      [ACCOUNT, OTHER_ACCOUNT, third].map((accountId) => ({
        accountId,
        depositId: depositIdOf(accountId, BASE_SEPOLIA, arrival, PARTITIONS),
      })),
    );
    expect(set.depositsOf({ ...arrival, to: samples.BOB })).toEqual([]);
    set.release();
    set.prune(SCENARIO_START + WALLET_MS);
    expect(set.ownersOf(ALICE)).toEqual([ACCOUNT, OTHER_ACCOUNT]);
  });

  it('are looked for a year after the last intent of a wallet, whatever has left and restarts', async () => {
    const [intent] = projected.intents;
    if (intent === undefined) throw new Error('there is an intent');
    projected.intents = [{ ...intent, closedAt: SCENARIO_START }];
    now = SCENARIO_START + DAY_MS;
    const owners = async (): Promise<readonly string[]> => (await setsOf().synchronize(BASE_SEPOLIA)).ownersOf(ALICE);
    expect(await owners()).toEqual([ACCOUNT]);
    const until = SCENARIO_START + WALLET_MS;
    expect(wallets).toEqual([
      { chain: BASE_SEPOLIA, recipient: ALICE, accountId: ACCOUNT, since: SCENARIO_START, until },
    ]);

    projected.intents = [];
    now = until - 1;
    expect(await owners()).toEqual([ACCOUNT]);
    now = until;
    expect(await owners()).toEqual([]);
  });

  it('are looked for no longer than is asked for, where a wallet was stored for longer', async () => {
    projected.intents = [];
    const far = SCENARIO_START + 10 * WALLET_MS;
    wallets = [{ chain: BASE_SEPOLIA, recipient: ALICE, accountId: ACCOUNT, since: SCENARIO_START, until: far }];
    const set = await setsOf().synchronize(BASE_SEPOLIA);
    set.release();
    set.prune(SCENARIO_START + WALLET_MS);
    expect(set.ownersOf(ALICE)).toEqual([]);
  });

  it('are not looked for beyond the intents of a wallet where they are not asked for', async () => {
    const set = await setsOf(null).synchronize(BASE_SEPOLIA);
    set.putAtRest({ ...created(OTHER_ACCOUNT), closedAt: SCENARIO_START });
    set.release();
    set.prune(SCENARIO_START + WATCH_MS);
    expect([set.ownersOf(ALICE), set.unkeptWallets(9)]).toEqual([[ACCOUNT], []]);
  });

  /** The record of a payer's report that this transfer was for the intent of the account. */
  const reported = (intent: PaymentIntent): string => {
    const { hash, index, from, ...rest } = arrival;
    const transfer = {
      tokenAddress: samples.USDC,
      from: from ?? samples.BOB,
      to: rest.to,
      amount: rest.amount,
      reference: samples.REFERENCE,
      block: rest.block,
      blockHash: rest.blockHash,
      index,
    };
    const data = { landing: { hash, transfer }, amount: '12.5', differs: ['reference'], claimed: true } as const;
    const event = { type: 'intent.mismatched_payment', intentId: intent.id, version: 2, at: SCENARIO_START, data };
    const after = evolve(intent, event as IntentEvent);
    return encodeEvent({
      eventId: eventIdOf(intent.id, 2),
      type: 'intent.mismatched_payment',
      schemaVersion: 1,
      intentId: intent.id,
      version: 2,
      accountId: intent.accountId,
      livemode: intent.livemode,
      commandId: null,
      at: new Date(SCENARIO_START).toISOString(),
      trace: { traceparent: null, requestId: null },
      data,
      intent: view(after),
    });
  };

  it('names it for the account of an intent for which a payer claims it: a claim is a word and no money', async () => {
    const [intent] = projected.intents;
    if (intent === undefined) throw new Error('there is an intent');
    records.push(reported(intent));
    const set = await setsOf().synchronize(BASE_SEPOLIA);
    expect(set.depositsOf(arrival)).toEqual([{ accountId: ACCOUNT, depositId: id }]);
  });

  it('names those that have named the recipient for longest, however many name it later', async () => {
    const [intent] = projected.intents;
    if (intent === undefined) throw new Error('there is an intent');
    const later = SCENARIO_START + 1;
    const others = Array.from({ length: 20 }, (_, n) => created(`acc_${n}` as typeof ACCOUNT));
    projected.intents = others.map((one) => ({ ...one, createdAt: later }));
    const set = await setsOf().synchronize(BASE_SEPOLIA);
    const ownersNow = () => set.depositsOf(arrival).map(({ accountId }) => accountId);
    set.putAtRest({ ...intent, closedAt: SCENARIO_START });
    expect([ownersNow().length, ownersNow()[0]]).toEqual([16, ACCOUNT]);
    set.put({ ...created(OTHER_ACCOUNT), createdAt: SCENARIO_START }, later);
    expect(ownersNow()).toEqual(expect.arrayContaining([ACCOUNT, OTHER_ACCOUNT]));
  });

  it('names none beyond sixteen accounts, and none where deposits are not asked for', async () => {
    for (let n = 0; n < 20; n++) projected.intents.push(created(`acc_${n}` as typeof ACCOUNT));
    expect((await setsOf().synchronize(BASE_SEPOLIA)).depositsOf(arrival)).toHaveLength(16);
    expect((await setsOf(null).synchronize(BASE_SEPOLIA)).depositsOf(arrival)).toEqual([]);
  });
});
