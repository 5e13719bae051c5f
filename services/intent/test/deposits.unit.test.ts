import { describe, expect, it } from '@jest/globals';
import {
  depositIdOf,
  depositEventOf,
  type DepositCommandMessage,
  isDepositEvent,
  isForeignDeposit,
  newCommandId,
  newIntentId,
  readRecord,
} from '@pf/contracts';
import { foldDeposits } from '@pf/database';
import type { Deposit, DepositCommandType, DepositObservation } from '@pf/domain';
import { deposits, samples } from '@pf/domain/testing';
import type { DecidedBatch } from '../src/batch-decider.ts';
import { owedReplies } from '../src/owed-replies.ts';
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

describe('A batch with commands about deposits', () => {
  const command = (
    type: Exclude<DepositCommandType, 'assign_deposit'>,
    change: Partial<Pick<DepositCommandMessage, 'accountId'>> = {},
  ): DepositCommandMessage => ({
    ...deposits.depositCommand(type, id),
    type,
    commandId: newCommandId(),
    replyTo: 'gateway',
    trace: TRACE,
    ...change,
  });
  const ignore = command('ignore_deposit');
  const decided = (commands: readonly DepositCommandMessage[], known = after(decide([landed])), timestamp = NOW) =>
    decideBatch(
      commands.map((one) => recordAt(one, timestamp)),
      { known: { deposits: known } },
    );
  const replied = ({ replies }: DecidedBatch) => replies.get('gateway')?.map(({ outcome }) => outcome) ?? [];

  it('appends an event that names the command, and replies that it is done', () => {
    const batch = decided([ignore, command('ignore_deposit'), command('reopen_deposit')]);
    expect(
      loggedBy(batch).map(({ type, version, commandId }) => [type, version, commandId === ignore.commandId]),
    ).toEqual([
      ['deposit.ignored', 2, true],
      ['deposit.reopened', 3, false],
    ]);
    expect(batch.deposits).toMatchObject([{ before: 1, deposit: { state: 'open', version: 3 } }]);
    expect(replied(batch).map((outcome) => outcome.kind === 'deposit' && outcome.refusal)).toEqual([null, null, null]);
    expect(batch.outcomes.map(({ outcome }) => outcome)).toEqual(replied(batch));
  });

  it('tells the intent of an assignment of each change of the deposit, as a reader of its records does', () => {
    const [known] = after(decide([landed]));
    if (known === undefined) throw new Error('nothing was decided');
    const intentId = newIntentId(0);
    const assign = { ...command('ignore_deposit'), type: 'assign_deposit', intentId } as const;
    const batch = decideBatch(
      [recordAt(assign), recordAt({ ...final, trace: TRACE }), recordAt(command('unassign_deposit'))],
      {
        known: { deposits: [known] },
      },
    );
    expect(batch.told.map(({ intentId: told, data }) => [told, data.version, data.standing])).toEqual([
      [intentId, 2, 'confirmed'],
      [intentId, 3, 'finalized'],
      [intentId, 4, 'unassigned'],
    ]);
    expect(foldDeposits([known], loggedBy(batch)).told).toEqual(batch.told);
  });

  it('answers a command that comes again with its outcome, and appends nothing', () => {
    const batch = decided([ignore, command('reopen_deposit'), ignore]);
    expect(loggedBy(batch)).toHaveLength(2);
    expect(replied(batch)[2]).toEqual(replied(batch)[0]);
  });

  it('replies why it is refused', () => {
    const batch = decided([ignore, command('ignore_deposit', { accountId: samples.OTHER_ACCOUNT })], []);
    expect(batch.records).toEqual([]);
    expect(replied(batch)).toMatchObject([
      { kind: 'deposit', refusal: { code: 'deposit.not_found' } },
      { kind: 'deposit', refusal: { code: 'deposit.not_found' } },
    ]);
  });

  it('drops one that came too late', () => {
    const batch = decided([ignore], after(decide([landed])), NOW - 60_000);
    expect([batch.records, batch.outcomes]).toEqual([[], []]);
    expect(batch.late).toMatchObject([{ commandId: ignore.commandId }]);
  });

  it('has its outcomes in the log, for the owner that comes after one that died', () => {
    const batch = decided([ignore]);
    const records = batch.records.map(({ value, headers = {} }) => ({ ...raw(value), headers }));
    const owed = owedReplies(records, loggedBy(batch), [], NOW);
    expect(owed).toEqual({ outcomes: batch.outcomes, replies: batch.replies, notices: [] });
  });
});
