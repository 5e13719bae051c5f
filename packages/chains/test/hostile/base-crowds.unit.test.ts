import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, Observation, PaymentTerms, Reference, TransactionHash } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { getAddress, type Hex, numberToHex, toHex } from 'viem';
import { encodePayment } from '../../src/base/calldata.ts';
import { BaseObserver } from '../../src/base/observer.ts';
import { TRANSFER } from '../../src/base/observe/landings.ts';
import { networkOf } from '../../src/index.ts';
import { Clock, poolOver } from '../base/chain.ts';
import { CHAIN, terms } from '../base/payments.ts';
import { named, Watcher } from '../conformance/watching.ts';
import { type At, logAt, type Shown, topic } from './base.ts';
import { honest, ScriptedChain } from './scripted-chain.ts';

type Made = (place: At) => Shown;

const ATTACKER: Hex = `0x${'ba'.repeat(20)}`;
/** Transactions that a reading looks up, and landings that a cursor holds of an intent. */
const LOOKED_UP_MAX = 500;
const OF_INTENT_MAX = 20;
/** Traces that a step has room for, of what is new and of what waits. */
const TRACES_MAX = 40;

const addressOf = (at: number): Address => getAddress(toHex(0x0d0000 + at, { size: 20 })) as string as Address;
const referenceOf = (at: number): Reference => toHex(at, { size: 32 }) as string as Reference;
const many = <T>(length: number, make: (at: number) => T): readonly T[] => Array.from({ length }, (_, at) => make(at));

const mine: PaymentTerms = { ...terms, requestor: addressOf(0) };
const otherOf = (at: number): PaymentTerms => ({ ...terms, requestor: addressOf(1), reference: referenceOf(at + 1) });

/** Transactions of one block, each with one log. */
const honestly = (all: readonly PaymentTerms[]): readonly Made[] =>
  all.map((one, at) => (place) => {
    const shown = honest(one)(place);
    for (const log of shown.logs) Object.assign(log, { logIndex: numberToHex(at) });
    return shown;
  });

/** A contract of the attacker's that pays by so many calls of the token, each with the reference. */
const nested =
  ({ tokenAddress, requestor, amount, reference }: PaymentTerms, times: number): Made =>
  (at) => {
    const { hash, block, blockHash } = at;
    const input = encodePayment(requestor, amount, reference) as Hex;
    const of = { hash, from: ATTACKER, to: ATTACKER, blockHash, type: '0x2', nonce: '0x1', value: '0x0' };
    const topics = [TRANSFER, topic(ATTACKER), topic(requestor)];
    const logs = many(times, (index) => logAt(at, index, tokenAddress, topics, toHex(amount, { size: 32 })));
    return {
      logs,
      transaction: { ...of, gas: numberToHex(16_000_000), input: `0x12345678${input.slice(2)}` },
      receipt: { ...of, transactionHash: hash, status: '0x1', blockNumber: numberToHex(block), logs },
      trace: {
        ...of,
        type: 'CALL',
        input: '0x12345678',
        calls: logs.map((log) => ({ type: 'CALL', from: ATTACKER, to: tokenAddress, input, logs: [log] })),
      },
    };
  };

describe('a payment on Base beside dust', () => {
  let proxy: RpcProxy;
  let pool: RpcPool;
  let chain: ScriptedChain;
  let clock: Clock;
  let watcher: Watcher;
  /** How often each transaction was looked up, and in all. */
  const lookUps = new Map<string, number>();
  let looked = 0;
  let traced = 0;
  beforeEach(async () => {
    chain = new ScriptedChain();
    [looked, traced] = [0, 0];
    lookUps.clear();
    proxy = await startRpcProxy('');
    proxy.respond = (request) => {
      if (request.method === 'eth_getTransactionByHash') {
        const hash = String(request.params[0]);
        lookUps.set(hash, (lookUps.get(hash) ?? 0) + 1);
        looked += 1;
      }
      if (request.method === 'debug_traceTransaction') traced += 1;
      return chain.respond(request);
    };
    pool = poolOver([proxy.url]);
    clock = new Clock();
    watcher = new Watcher(new BaseObserver(networkOf(CHAIN), pool, clock.now));
    watcher.watched.add('pi_mine', mine);
    await watcher.stepOnce();
  });
  afterEach(async () => {
    await pool.close();
    await proxy.stop();
  });

  const textsOf = (all: readonly Observation[]): readonly string[] =>
    all.map((one) => `${one.intentId} ${named([one])[0] ?? ''}`);
  async function step(): Promise<readonly string[]> {
    const { observations } = await watcher.stepOnce();
    clock.pass(2_000);
    return textsOf(observations);
  }
  const heldOf = (): number => (JSON.parse(watcher.cursor ?? '') as { readonly seen: readonly unknown[] }).seen.length;

  it('is confirmed in its usual time beside thousands of payments to another, which are all found later', async () => {
    const others = many(1_200, otherOf);
    for (const [at, one] of others.entries()) watcher.watched.add(`pi_other_${at}`, one);
    chain.mine(...honestly([...others, mine]));
    const found = new Set(await step());
    expect(looked).toBeLessThanOrEqual(LOOKED_UP_MAX);
    for (const text of await step()) found.add(text);
    expect(found).toContain('pi_mine landed confirmed');
    for (let steps = 0; steps < 20 && found.size <= others.length; steps += 1) {
      chain.mine();
      looked = 0;
      for (const text of await step()) if (text.endsWith('confirmed')) found.add(text);
      expect(looked).toBeLessThanOrEqual(2 * LOOKED_UP_MAX);
    }
    expect(found.size).toBe(1 + others.length);
    // What an upstream has shown is not asked for again.
    expect(Math.max(...lookUps.values())).toBe(1);
  }, 60_000);

  it('is confirmed in its usual time behind thousands of specks to its intent, of which few are held', async () => {
    const speck = { ...mine, amount: 1n };
    chain.mine(...many(10, () => nested(speck, 300)), ...many(40, () => honest(speck)), honest(mine));
    const found = [...(await step())];
    expect(heldOf()).toBe(OF_INTENT_MAX);
    const { observations } = await watcher.stepOnce();
    found.push(...textsOf(observations));
    expect(observations.map(({ data }) => 'transfer' in data && data.transfer.amount)).toContain(mine.amount);
    expect(found.length).toBeLessThanOrEqual(OF_INTENT_MAX);
    for (let steps = 0; steps < 20; steps += 1) {
      chain.mine();
      await step();
      expect(heldOf()).toBeLessThanOrEqual(OF_INTENT_MAX);
    }
    expect(watcher.watched.byReference(mine.reference)?.settlement?.finalized).toBe(true);
  }, 60_000);

  it('is confirmed in its usual time beside a hundred that were submitted, which are traced a few a step', async () => {
    const others = many(100, otherOf);
    for (const [at, one] of others.entries()) watcher.watched.add(`pi_other_${at}`, one);
    const hashes = chain.mine(...others.map((one) => nested(one, 1)));
    for (const [at, one] of others.entries())
      watcher.watched.submit(
        {
          hash: hashes[at] as string as TransactionHash,
          sender: getAddress(ATTACKER) as string as Address,
          nonce: null,
          lifetime: { kind: 'unlimited' },
          terms: one,
        },
        0,
      );
    chain.mine(honest(mine));
    const found = [...(await step()), ...(await step())];
    expect(found).toContain('pi_mine landed confirmed');
    expect(traced).toBeLessThanOrEqual(2 * TRACES_MAX);
  }, 60_000);
});
