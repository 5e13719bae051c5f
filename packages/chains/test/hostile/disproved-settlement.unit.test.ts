import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Reference } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { encodeFunctionData, type Hex, numberToHex, parseAbi, toHex } from 'viem';
import { encodePayment } from '../../src/base/calldata.ts';
import { TRANSFER } from '../../src/base/observe/landings.ts';
import { BaseObserver } from '../../src/base/observer.ts';
import { networkOf, rewindCursor } from '../../src/index.ts';
import { Clock, poolOver } from '../base/chain.ts';
import { CHAIN, terms } from '../base/payments.ts';
import { Watcher } from '../conformance/watching.ts';
import { type At, logAt, type Shown, topic } from './base.ts';
import { ScriptedChain } from './scripted-chain.ts';

const WALLET: Hex = `0x${'5a'.repeat(20)}`;
const ofIntent = (name: number) => ({ ...terms, reference: toHex(name, { size: 32 }) as Reference });
const [told, paid] = [ofIntent(0xa), ofIntent(0xb)];
const callOf = ({ requestor, amount, reference }: typeof paid): Hex =>
  encodePayment(requestor, amount, reference) as Hex;
const NO_TRACES = Object.assign(new Error('the method is not available'), { code: -32_601 });

/** An account was told to pay one intent, and its code has paid another: only a trace shows that. */
const otherwise = (at: At): Shown => {
  const { hash, block, blockHash } = at;
  const data = toHex(paid.amount, { size: 32 });
  const logs = [logAt(at, 0, paid.tokenAddress, [TRANSFER, topic(WALLET), topic(paid.requestor)], data)];
  const input = encodeFunctionData({
    abi: parseAbi(['function execute(address to, uint256 value, bytes data)']),
    args: [told.tokenAddress as Hex, 0n, callOf(told)],
  });
  const sent = { from: WALLET, to: WALLET };
  const call = { type: 'CALL', from: WALLET, to: paid.tokenAddress, input: callOf(paid), logs };
  return {
    logs,
    transaction: { ...sent, hash, type: '0x2', nonce: '0x1', gas: '0x30d40', value: '0x0', input, blockHash },
    receipt: { ...sent, transactionHash: hash, status: '0x1', blockNumber: numberToHex(block), blockHash, logs },
    trace: { type: 'CALL', ...sent, input, calls: [call] },
  };
};

describe('a settlement that was told by calldata, as no upstream had traces', () => {
  let chain: ScriptedChain;
  const clock = new Clock();
  let [untraced, traced]: RpcProxy[] = [];
  let pools: RpcPool[];
  let watcher: Watcher;
  let disproved: number;
  beforeEach(async () => {
    chain = new ScriptedChain();
    [untraced, traced] = [await startRpcProxy(''), await startRpcProxy('')];
    untraced.respond = (request) => (request.method.includes('trace') ? NO_TRACES : chain.respond(request));
    traced.respond = (request) => chain.respond(request);
    pools = [];
    disproved = 0;
    watcher = new Watcher(observerOver(untraced));
    watcher.watched.add('pi_told', told);
    watcher.watched.add('pi_paid', paid);
    await watcher.step();
    const [hash] = chain.mine(otherwise);
    expect(await observed(4)).toEqual(['pi_told confirmed']);
    warning = `${hash} has settled pi_told, and carries the reference of another intent: run pf audit settlements`;
  });
  let warning: string;
  afterEach(async () => {
    for (const pool of pools) await pool.close();
    for (const proxy of [untraced, traced]) await proxy?.stop();
  });

  function observerOver(...proxies: readonly (RpcProxy | undefined)[]): BaseObserver {
    const pool = poolOver(proxies.flatMap((proxy) => proxy?.url ?? []));
    pools.push(pool);
    return new BaseObserver(networkOf(CHAIN), pool, clock.now);
  }
  /** What is observed in so many steps, each of a block that is not final. */
  async function observed(steps: number): Promise<readonly string[]> {
    const all = new Set<string>();
    for (let step = 0; step < steps; step += 1) {
      const { observations, disproved: found = 0 } = await watcher.stepOnce();
      disproved += found;
      for (const { intentId, type, data } of observations)
        all.add(`${intentId} ${'level' in data ? data.level : type}`);
      clock.pass(2_000);
    }
    return [...all];
  }
  const readAgain = (): void => watcher.moveCursor((cursor) => rewindCursor(networkOf(CHAIN), cursor, 1n));

  it('is told once to the operator when its blocks are read again by an upstream that has', async () => {
    watcher = watcher.restart(observerOver(traced));
    readAgain();
    for (let blocks = 0; blocks < 6; blocks += 1) chain.mine();
    expect(await observed(6)).toContain('pi_paid confirmed');
    expect([watcher.warnings, disproved]).toEqual([[warning], 1]);
    readAgain();
    await observed(6);
    expect([watcher.warnings, disproved]).toEqual([[warning], 1]);
  });

  it('is told to the operator once it is final and the second upstream has traces', async () => {
    watcher = watcher.restart(observerOver(untraced, traced));
    for (let blocks = 0; blocks < 12; blocks += 1) chain.mine();
    const seen = await observed(20);
    expect(seen).toContain('pi_paid confirmed');
    expect(seen).not.toContain('pi_told finalized');
    expect(watcher.warnings).toContain(warning);
    expect(disproved).toBe(1);
  });
});
