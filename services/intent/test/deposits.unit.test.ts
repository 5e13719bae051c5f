import { describe, expect, it } from '@jest/globals';
import { depositIdOf, depositEventOf, isDepositEvent, isForeignDeposit, readRecord } from '@pf/contracts';
import { foldDeposits } from '@pf/database';
import type { Deposit, DepositObservation } from '@pf/domain';
import { deposits, samples } from '@pf/domain/testing';
import type { DecidedBatch } from '../src/batch-decider.ts';
import { decideBatch, NOW, raw, recordAt } from './batches.ts';
import { PARTITIONS, TRACE } from './messages.ts';

const id = depositIdOf(samples.ACCOUNT, samples.BASE_SEPOLIA, deposits.arrival(), PARTITIONS);
const landed = deposits.depositLanded({}, id);
const final = deposits.depositLanded({ level: 'finalized' }, id);
const lost = deposits.depositLost(deposits.arrival(), id);

const decide = (observations: readonly DepositObservation[], known: readonly Deposit[] = []): DecidedBatch =>
  decideBatch(
    observations.map((observation) => recordAt({ ...observation, trace: TRACE })),
    { known: { deposits: known } },
  );
const loggedBy = ({ records }: DecidedBatch) =>
  records.map(({ value }) => {
    const record = readRecord(value);
    if (!isDepositEvent(record) || isForeignDeposit(record)) throw new Error(`${value} is no event of a deposit`);
    return record;
  });
const after = ({ deposits: changed }: DecidedBatch): readonly Deposit[] => changed.map(({ deposit }) => deposit);

describe('A batch with observations of deposits', () => {
  it('appends an event for each that is new, and projects the deposit once', () => {
    const batch = decide([landed, landed, final, lost, landed]);
    expect(loggedBy(batch).map((event) => [depositEventOf(event).type, event.version])).toEqual([
      ['deposit.received', 1],
      ['deposit.finalized', 2],
      ['deposit.lost', 3],
      ['deposit.received', 4],
    ]);
    expect(batch.deposits).toMatchObject([{ before: 0, deposit: { id, version: 4, level: 'confirmed' } }]);
    expect(batch.events.map(({ intentId, version, type }) => [intentId, version, type])).toEqual(
      loggedBy(batch).map(({ depositId, version, type }) => [depositId, version, type]),
    );
    expect(batch.intents).toEqual([]);
  });

  it('projects what a reader folds from its records, byte for byte', () => {
    const batch = decide([landed, final]);
    const folded = foldDeposits([], loggedBy(batch));
    expect(folded.deposits).toEqual(batch.deposits);
    expect(folded.events).toEqual(batch.events);
  });

  it('goes on from what is known', () => {
    const known = after(decide([landed]));
    expect(decide([landed], known).records).toEqual([]);
    expect(decide([final], known).deposits).toMatchObject([{ before: 1, deposit: { version: 2 } }]);
  });

  it('moves one to the dead letters that newer code has changed, with what was observed', () => {
    const [known] = after(decide([landed]));
    if (known === undefined) throw new Error('nothing was decided');
    const { dead, records } = decide([final], [{ ...known, heldFrom: 1 }]);
    expect(records).toEqual([]);
    expect(dead).toMatchObject([{ letter: { reason: 'cannot be decided: HeldDepositError' } }]);
    expect(dead[0]?.letter.payload).toContain(id);
  });

  it('moves one of another partition to the dead letters', () => {
    const { value, partition, topic } = recordAt({ ...landed, trace: TRACE });
    const elsewhere = raw(value, { topic: topic as 'chain.observations', partition: (partition + 1) % PARTITIONS });
    expect(decideBatch([elsewhere], { now: NOW }).dead).toMatchObject([
      { letter: { reason: `${id} is not of this partition` } },
    ]);
  });
});
