import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { PaymentTerms, TransactionHash } from '@pf/domain';
import { type RpcPool, RpcUpstreamError } from '@pf/rpc';
import { networkOf } from '../../src/index.ts';
import { randomReference } from '../../src/solana/address.ts';
import { SolanaObserver } from '../../src/solana/observer.ts';
import { Watcher } from '../conformance/watching.ts';
import { blobFor, DEVNET, shownAs, signedBy, termsIn } from '../solana/payments.ts';
import { observedIn } from './observed.ts';
import { ScriptedSolana, SLOT } from './scripted-solana.ts';
import { NEVER, virtualPool, VirtualTime, type VirtualUpstream, virtualUpstreams } from './virtual-upstream.ts';

const TRANSACTION = 'getTransaction';
const CROWD = 30;
const QUICK_MS = 20;
/** Of a crowd each pays a recipient of its own. Another crowd pays one. */
const { requestor } = termsIn('USDC');
const terms = Array.from({ length: 2 * CROWD + 1 }, (_, at) => ({
  ...termsIn('USDC'),
  ...(at > CROWD && { requestor }),
}));
const shown = await Promise.all(
  terms.map(async (one, number) => shownAs(signedBy(await blobFor(one)), one, { number, slot: SLOT })),
);
const transactions = new Map(shown);
const hashes = shown.map(([hash]) => hash);
/** It comes behind the crowd, and takes 1.6 s once. */
const [MINE, HONEST] = [CROWD, hashes[CROWD] as TransactionHash];

describe('a payment on Solana that is late behind a crowd of transactions that are never returned', () => {
  let time: VirtualTime;
  let chain: ScriptedSolana;
  let upstreams: VirtualUpstream[];
  let pool: RpcPool;
  let watcher: Watcher;

  const open = (count: number): void => {
    chain = new ScriptedSolana(time, transactions);
    upstreams = virtualUpstreams(count, time, chain.respond);
    pool = virtualPool('solana', upstreams);
    watcher = new Watcher(new SolanaObserver(networkOf(DEVNET), pool, time.now));
  };
  beforeEach(() => {
    time = new VirtualTime();
    jest.spyOn(Math, 'random').mockReturnValue(0.9);
    open(2);
  });
  afterEach(async () => {
    await pool.close();
    jest.restoreAllMocks();
  });

  /** @param isDeposit its reference is that of no intent */
  async function confirmed(places: readonly number[], isDeposit = false): Promise<void> {
    for (const at of places) {
      const asked = terms[at] as PaymentTerms;
      const one = isDeposit ? { ...asked, reference: randomReference() } : asked;
      watcher.watched.add(`pi_${at}`, one);
      watcher.watched.own(one.requestor, `acct_${at}`);
      watcher.watched.detect(one);
      chain.listed.set(one.reference, [hashes[at] as TransactionHash]);
    }
    const paid = (): number => [...watcher.watched.openDeposits(), ...watcher.watched.settling()].length;
    const before = paid();
    await observedIn(time, watcher, 20);
    expect(paid()).toBe(before + places.length);
  }
  const crowd = (count: number): readonly number[] => [...Array(count).keys(), MINE];
  function slow(which: readonly number[], never: readonly TransactionHash[]): void {
    for (const at of which)
      (upstreams[at] as VirtualUpstream).takes = (method, [first]) => {
        if (method !== TRANSACTION) return QUICK_MS;
        return never.includes(first as TransactionHash) ? NEVER : first === HONEST ? 1_600 : QUICK_MS;
      };
  }
  /** How many ms it takes until it is final, within so many steps. */
  async function finalAfter(hash: TransactionHash, steps = 250): Promise<number> {
    chain.isFinal = true;
    const began = time.passed;
    const isFinal = (): boolean =>
      ![...watcher.watched.settling()].some(({ settlement }) => settlement.hash === hash) &&
      ![...watcher.watched.openDeposits()].some(({ arrival }) => arrival.hash === hash);
    for (let step = 0; step < steps && !isFinal(); step += 1) await observedIn(time, watcher, 1);
    return isFinal() ? time.passed - began : NEVER;
  }

  it('becomes final within its turn', async () => {
    await confirmed(crowd(CROWD));
    slow([0, 1], hashes.slice(0, CROWD));
    // Two at a time, each with the limits of two requests.
    expect(await finalAfter(HONEST)).toBeLessThan((CROWD / 2) * 5_000);
  });

  it('becomes final after one turn where all others pay another recipient', async () => {
    await confirmed([...Array.from({ length: CROWD }, (_, at) => CROWD + 1 + at), MINE]);
    slow([0, 1], hashes.slice(CROWD + 1));
    expect(await finalAfter(HONEST)).toBeLessThan(15_000);
  });

  it('becomes final as a deposit within its turn', async () => {
    await confirmed(crowd(12), true);
    slow([0, 1], hashes.slice(0, 12));
    expect(await finalAfter(HONEST)).toBeLessThan((12 / 2) * 5_000);
  });

  it('becomes final within its turn where only the history of upstreams has them all', async () => {
    // Both are quick otherwise: a step waits for 0.3 s.
    await confirmed(Array.from({ length: 12 }, (_, at) => 10 + at));
    await confirmed(crowd(3));
    slow([0, 1], hashes.slice(0, 3));
    for (const one of upstreams)
      one.respond = (method, params) => {
        if (method !== 'getSignatureStatuses') return chain.respond(method, params);
        const { value, context } = chain.respond(method, params) as { context: object; value: unknown[] };
        const options = params[1] as { readonly searchTransactionHistory?: boolean } | undefined;
        return { context, value: options?.searchTransactionHistory === true ? value : value.map(() => null) };
      };
    expect(await finalAfter(HONEST)).toBeLessThan(20_000);
  });

  it('becomes final beside those with which a gateway fails', async () => {
    await confirmed(crowd(2));
    slow([1], []);
    const failing = hashes.slice(0, 2);
    const one = upstreams[1] as VirtualUpstream;
    const send = one.send.bind(one);
    one.send = async (all) => {
      const responses = await send(all);
      if (!all.some(({ method, params: [first] }) => method === TRANSACTION && failing.includes(first as never)))
        return responses;
      throw new RpcUpstreamError('504', 'maybe', undefined, 'http');
    };
    expect(await finalAfter(HONEST)).toBeLessThan(10_000);
  });

  it('becomes final by the two of three upstreams that show it', async () => {
    open(3);
    const [first] = upstreams as [VirtualUpstream];
    first.respond = (method, params) => (method === TRANSACTION ? null : chain.respond(method, params));
    await confirmed([0, MINE]);
    first.respond = chain.respond;
    slow([0], hashes.slice(0, 1));
    expect(await finalAfter(hashes[0] as TransactionHash)).toBeLessThan(10_000);
  });

  it('becomes final after a restart by the two of three upstreams that show it', async () => {
    open(3);
    await confirmed([MINE]);
    const one = upstreams[0] as VirtualUpstream;
    const send = one.send.bind(one);
    one.send = (all) => {
      if (!all.some(({ method, params: [first] }) => method === TRANSACTION && first === HONEST)) return send(all);
      throw new RpcUpstreamError('504', 'maybe', undefined, 'http');
    };
    watcher = watcher.restart(new SolanaObserver(networkOf(DEVNET), pool, time.now));
    expect(await finalAfter(HONEST, 60)).toBeLessThan(15_000);
  });

  it('becomes final by two of three upstreams beside one that two of them refuse', async () => {
    open(3);
    await confirmed([0, MINE]);
    const [refused] = hashes as [TransactionHash];
    const lacks = (at: number, which: readonly TransactionHash[]): void => {
      const one = upstreams[at] as VirtualUpstream;
      one.respond = (method, params) =>
        method === TRANSACTION && which.includes(params[0] as TransactionHash) ? null : chain.respond(method, params);
    };
    lacks(1, [refused, HONEST]);
    lacks(2, [refused]);
    watcher = watcher.restart(new SolanaObserver(networkOf(DEVNET), pool, time.now));
    expect(await finalAfter(HONEST, 60)).toBeLessThan(15_000);
  });

  it('does not delay a deposit that is returned at once', async () => {
    await confirmed([MINE], true);
    await confirmed([...Array(CROWD).keys()]);
    for (const one of upstreams)
      one.takes = (method, [hash]) => (method === TRANSACTION && hash !== HONEST ? NEVER : QUICK_MS);
    expect(await finalAfter(HONEST)).toBeLessThan(2_000);
  });
});
