import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, DepositObservation, Observation } from '@pf/domain';
import { watcher as inputs } from '@pf/domain/testing';
import type { RpcNode, RpcPool } from '@pf/rpc';
import type { Log, Receipt } from '../../../src/evm/calls.ts';
import { ArrivalReports, paidArrivals } from '../../../src/tempo/observe/arrival-reports.ts';
import { arrivalsOf, type Sighting } from '../../../src/tempo/observe/arrivals.ts';
import { moveIn } from '../../../src/tempo/observe/landings.ts';
import type { Scan } from '../../../src/tempo/observe/scan.ts';
import { Watched } from '../../conformance/watching.ts';
import { from, hash, logsOf, master, place, transfer, virtual, withMemo } from '../logged.ts';
import { network, terms } from '../payments.ts';

const to = terms.requestor;
const sightingsIn = (logs: readonly Log[]): readonly Sighting[] =>
  arrivalsOf({ moves: logs.flatMap((log) => moveIn(log) ?? []), claims: [] }, network, () => false);
const toldOf = (all: readonly DepositObservation[]): readonly string[] =>
  all.map(({ type, data }) => ('level' in data ? `${data.accountId} ${data.level}` : type));

describe('Reports of arrivals on Tempo', () => {
  let watched: Watched;
  let reports: ArrivalReports;
  /** What each upstream has of the transaction; null: it does not know it. */
  let shown: { first: readonly Log[] | null; second: readonly Log[] | null };
  let asked: number;
  let size: number;
  beforeEach(() => {
    watched = new Watched();
    watched.own(to, 'acc_1');
    reports = new ArrivalReports();
    shown = { first: null, second: null };
    asked = 0;
    size = 2;
  });

  const upstream = (name: 'first' | 'second'): RpcNode =>
    ({
      name,
      batch: (calls: readonly unknown[]) => {
        asked += calls.length;
        const logs = shown[name];
        const receipt = { transactionHash: hash, status: 1n, ...place, from, logs } as Receipt;
        return Promise.resolve(calls.map(() => (logs === null ? null : receipt)));
      },
    }) as unknown as RpcNode;
  const context = (): Scan =>
    ({
      node: upstream('first'),
      network,
      watch: watched,
      pool: {
        size,
        doubleCheck: (node: RpcNode, _first: string | null, work: (by: RpcNode) => unknown) =>
          Promise.all(size === 1 ? [work(node)] : [work(upstream('second')), work(node)]),
      } as unknown as RpcPool,
    }) as unknown as Scan;
  const apply = (all: readonly DepositObservation[]): readonly string[] => {
    for (const one of all) watched.applyDeposit(one);
    return toldOf(all);
  };
  const report = (by: 'first' | 'second', all: readonly Sighting[], most?: number): readonly string[] =>
    apply(reports.report(context(), upstream(by), all, most));
  const finalize = async (now: number, through = place.blockNumber): Promise<readonly string[]> =>
    apply(await reports.finalize(context(), through, now));

  const one = sightingsIn(logsOf([transfer(from, to)]));

  it('are confirmed by the first upstream that shows one, and final by the second', () => {
    expect(report('first', one)).toEqual(['acc_1 confirmed']);
    expect(report('first', one)).toEqual([]);
    expect(report('second', one)).toEqual(['acc_1 finalized']);
    expect([...watched.deposits.values()]).toMatchObject([{ version: 2, level: 'finalized' }]);
  });

  it('are final at once with a single upstream', () => {
    size = 1;
    expect(report('first', one)).toEqual(['acc_1 finalized']);
  });

  it('are not final where the second upstream shows another amount', () => {
    report('first', one);
    expect(report('second', sightingsIn(logsOf([transfer(from, to, 1n)])))).toEqual(['acc_1 confirmed']);
    expect([...watched.deposits.values()]).toMatchObject([{ version: 1, arrival: { amount: terms.amount } }]);
  });

  it('go to no account that is told of it at the virtual address which has passed it on', () => {
    watched.own(virtual, 'acc_1');
    watched.own(master, 'acc_1', 'acc_2');
    const passed = sightingsIn(logsOf([transfer(from, virtual), transfer(virtual, master)]));
    expect(report('first', passed)).toEqual(['acc_1 confirmed', 'acc_2 confirmed']);
    expect([...watched.deposits.values()].map(({ arrival }) => arrival.to)).toEqual([virtual, master]);
  });

  it('are made by turns of the accounts, and the others are final when they are read again', () => {
    const other = `0x${'44'.repeat(20)}` as Address;
    watched.own(other, 'acc_2');
    const all = sightingsIn(logsOf([...Array.from({ length: 5 }, () => transfer(from, to)), transfer(from, other)]));
    expect(report('first', all, 2)).toEqual(['acc_1 confirmed', 'acc_2 confirmed']);
    expect(report('second', all)).toEqual([...Array.from({ length: 5 }, () => 'acc_1 finalized'), 'acc_2 finalized']);
  });

  describe('after a restart between the two readings', () => {
    const NOW = 1_000_000;
    const LATER = NOW + 30_000;
    beforeEach(async () => {
      report('first', one);
      reports = new ArrivalReports();
      expect(report('second', one)).toEqual([]);
      expect(await finalize(NOW, place.blockNumber - 1n)).toEqual([]);
      expect(await finalize(NOW)).toEqual([]);
      expect(await finalize(LATER - 1)).toEqual([]);
      expect(asked).toBe(0);
    });

    it('are final by the receipts of two upstreams', async () => {
      shown = { first: logsOf([transfer(from, to)]), second: logsOf([transfer(from, to)]) };
      expect(await finalize(LATER)).toEqual(['acc_1 finalized']);
      expect(await finalize(LATER)).toEqual([]);
      expect(asked).toBe(2);
    });

    it('wait at growing intervals while one of them has no receipt, or another one', async () => {
      shown = { first: logsOf([transfer(from, to)]), second: null };
      expect(await finalize(LATER)).toEqual([]);
      expect(await finalize(LATER + 14_000)).toEqual([]);
      expect(asked).toBe(2);
      shown = { first: logsOf([transfer(from, to)]), second: logsOf([transfer(from, to, 1n)]) };
      expect(await finalize(LATER + 15_000)).toEqual([]);
      expect(asked).toBe(4);
    });

    it('are lost where the receipts of both show the payment of an intent instead', async () => {
      const logs = logsOf([transfer(from, to), withMemo(from, to)]);
      shown = { first: logs, second: logs };
      expect(await finalize(LATER)).toEqual(['deposit_lost']);
    });

    it('are never lost by the word of one upstream where there are two', async () => {
      shown = { first: null, second: logsOf([transfer(from, to), withMemo(from, to)]) };
      expect(await finalize(LATER)).toEqual([]);
    });
  });

  describe('that turn out to be the payment of an intent', () => {
    const { blockNumber: block, blockHash } = place;
    const paidAt = (index: string): Observation =>
      inputs.landedFinal(hash, { ...terms, from, to, block, blockHash, index });
    const withdraw = (found: readonly Observation[], late: readonly Observation[] = []): readonly string[] =>
      apply(paidArrivals(watched, found, late));
    const levels = (): readonly string[] => [...watched.deposits.values()].map(({ level }) => level);

    it('are withdrawn where the memo stands right behind the transfer, and stay so', () => {
      const both = sightingsIn(logsOf([transfer(from, to), transfer(from, to)]));
      report('first', both);
      expect(withdraw([paidAt('2')])).toEqual(['deposit_withdrawn']);
      report('second', both);
      expect(levels()).toEqual(['finalized', 'withdrawn']);
    });

    it('are withdrawn once they are final where a second reading shows the memo', () => {
      size = 1;
      report('first', one);
      expect(withdraw([paidAt('1')])).toEqual([]);
      withdraw([], [paidAt('1')]);
      expect(levels()).toEqual(['withdrawn']);
    });
  });
});
