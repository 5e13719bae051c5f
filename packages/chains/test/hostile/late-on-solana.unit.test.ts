import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { TransactionHash } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { networkOf } from '../../src/index.ts';
import { SolanaObserver } from '../../src/solana/observer.ts';
import { Watcher } from '../conformance/watching.ts';
import { blobFor, DEVNET, shownAs, signedBy, termsIn } from '../solana/payments.ts';
import { DELAY_MAX_MS } from './delay.ts';
import { observedIn } from './observed.ts';
import { ScriptedSolana, SLOT } from './scripted-solana.ts';
import { delay, NEVER, virtualPool, VirtualTime, type VirtualUpstream, virtualUpstreams } from './virtual-upstream.ts';

const terms = termsIn('USDC');
const raw = signedBy(await blobFor(terms));

const paymentAs = (number: number) => shownAs(raw, terms, { number, slot: SLOT });
const transactions = new Map(await Promise.all(Array.from({ length: 8 }, (_, at) => paymentAs(at))));
const [HONEST, LATE, ...OTHERS] = [...transactions.keys()] as [TransactionHash, TransactionHash, ...TransactionHash[]];

describe('a transaction that takes long beside a payment on Solana', () => {
  let time: VirtualTime;
  let upstreams: VirtualUpstream[];
  let pool: RpcPool;
  let watcher: Watcher;
  let chain: ScriptedSolana;

  const open = (count: number): void => {
    upstreams = virtualUpstreams(count, time, chain.respond);
    pool = virtualPool('solana', upstreams);
    watcher = new Watcher(new SolanaObserver(networkOf(DEVNET), pool, time.now));
    watcher.watched.add('pi_mine', terms);
    watcher.watched.own(terms.requestor, 'acct_mine');
    watcher.watched.detect(terms);
  };
  const list = (hashes: readonly TransactionHash[]): void => void chain.listed.set(terms.reference, hashes);
  const slow = (hashes: readonly TransactionHash[], ms: number): void =>
    delay(upstreams, ['getTransaction'], hashes, ms);
  const only = (): VirtualUpstream => upstreams[0] as VirtualUpstream;

  beforeEach(() => {
    time = new VirtualTime();
    chain = new ScriptedSolana(time, transactions);
    jest.spyOn(Math, 'random').mockReturnValue(0.9);
    open(1);
  });
  afterEach(async () => {
    await pool.close();
    jest.restoreAllMocks();
  });

  const observed = async (steps: number): Promise<readonly (readonly [string, string, number])[]> =>
    (await observedIn(time, watcher, steps)).map(({ what, hash, ms }) => [what, hash, ms] as const);

  it.each([1, 2])('delays it by less than a second where none of %d upstreams ever returns it', async (count) => {
    open(count);
    await observed(1);
    list([HONEST]);
    const [usual] = await observed(6);
    open(count);
    list([]);
    await observed(1);
    slow([LATE], NEVER);
    list([LATE, HONEST]);
    const found = await observed(6);
    expect(usual).toEqual(['landed confirmed', HONEST, expect.any(Number)]);
    expect(found.map(([what, hash]) => [what, hash])).toEqual([['landed confirmed', HONEST]]);
    expect((found[0]?.[2] ?? NEVER) - (usual?.[2] ?? 0)).toBeLessThan(DELAY_MAX_MS);
    // It was in play: asked for together with the payment, then alone, and after that beside the steps only.
    const asked = only().requests.filter(({ first }) => first.includes(LATE));
    expect(asked.slice(0, 2).map(({ first, isSoon }) => [first.length, isSoon])).toEqual([
      [2, true],
      [1, true],
    ]);
    expect(asked.slice(2).map(({ isSoon }) => isSoon)).not.toContain(true);
    expect(watcher.warnings).toEqual([expect.stringContaining(`${LATE} of slot ${SLOT} is set aside: it was not`)]);
  });

  it('sets nothing aside of a node that always takes 1.6 s, and does not take null for late', async () => {
    only().takes = () => 1_600;
    await observed(1);
    chain.shown = new Map([...transactions].filter(([hash]) => hash !== LATE));
    list([LATE, HONEST]);
    expect((await observed(3)).map(([what, hash]) => [what, hash])).toEqual([['landed confirmed', HONEST]]);
    expect((await time.until(watcher.stepOnce())).setAside).toBe(0);
    expect(watcher.warnings).toEqual([]);
    chain.shown = transactions;
    expect((await observed(4)).map(([what, hash]) => [what, hash])).toEqual([['landed confirmed', LATE]]);
  });

  it('is found by the reading beside the steps, once, where it takes 1.6 s each time', async () => {
    await observed(1);
    slow([LATE], 1_600);
    list([LATE, HONEST]);
    const found = await observed(12);
    expect(found.map(([what, hash]) => [what, hash])).toEqual([
      ['landed confirmed', HONEST],
      ['landed confirmed', LATE],
    ]);
    // No step waited for it: by then it was read once, with all the time it takes.
    expect(only().requests.filter(({ first, isSoon }) => first.includes(LATE) && !isSoon)).toHaveLength(1);
    expect((found[1]?.[2] ?? NEVER) - (found[0]?.[2] ?? 0)).toBeLessThan(3_000);
  });

  it('is read beside the steps by two at a time, whatever their number', async () => {
    await observed(1);
    slow(OTHERS, NEVER);
    list([...OTHERS, HONEST]);
    const found = await observed(40);
    expect(found.map(([what, hash]) => [what, hash])).toEqual([['landed confirmed', HONEST]]);
    expect(only().most.get('getTransaction')).toBe(2);
    for (const hash of OTHERS)
      expect(only().requests.some(({ first, isSoon }) => first.includes(hash) && !isSoon)).toBe(true);
  });

  it('is asked for once by a step, alone with 15 others at most, where it is one of a crowd', async () => {
    const crowd = await Promise.all(Array.from({ length: 24 }, (_, at) => paymentAs(100 + at)));
    await observed(1);
    const hashes = crowd.map(([hash]) => hash);
    slow(hashes, NEVER);
    list(hashes);
    const began = only().requests.length;
    const found = await observed(10);
    expect(found).toEqual([]);
    const requests = only()
      .requests.slice(began)
      .filter(({ first: [hash], isSoon }) => isSoon && hashes.includes(hash as TransactionHash));
    expect(requests.map(({ first }) => first.length)).toEqual([
      24,
      ...Array<number>(16).fill(1),
      8,
      ...Array<number>(8).fill(1),
    ]);
    list([HONEST]);
    expect((await observed(30)).map(([what, hash]) => [what, hash])).toEqual([['landed confirmed', HONEST]]);
  });

  it('is dropped where it was read beside the steps more than a minute ago', async () => {
    await observed(1);
    slow([LATE], 1_600);
    list([LATE]);
    while (watcher.warnings.length === 0) await observed(1);
    await time.pass(61_000);
    const before = only().asked('getTransaction', LATE);
    expect(await observed(1)).toEqual([]);
    // It is read once more.
    expect(only().asked('getTransaction', LATE)).toBe(before + 1);
    expect((await observed(6)).map(([what]) => what)).toEqual(['landed confirmed']);
  });
});
