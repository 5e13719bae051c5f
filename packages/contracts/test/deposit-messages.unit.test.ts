import { describe, expect, it } from '@jest/globals';
import { decideDeposit, type DepositObservation, depositView, type DepositTransition } from '@pf/domain';
import { deposits, samples } from '@pf/domain/testing';
import {
  decodeDeposit,
  DEPOSIT_OBSERVATION_TYPES,
  type DepositEnvelope,
  depositEventOf,
  depositHeadOf,
  depositIdOf,
  depositWebhookBody,
  encodeDeposit,
  encodeDepositEvent,
  encodeInput,
  eventIdOf,
  isDepositEvent,
  isForeignDeposit,
  parseDepositId,
  parseObservation,
  partitionOf,
  readEvent,
  readRecord,
} from '../src/index.ts';

const TRACE = { traceparent: null, requestId: null };
const PARTITIONS = 6;
const { arrival, depositLanded, depositLost, depositWithdrawn } = deposits;

const decided = (observation: DepositObservation): DepositTransition => {
  const transition = decideDeposit(observation, samples.SCENARIO_START, undefined);
  if (transition === null) throw new Error('nothing was decided');
  return transition;
};
const { event, deposit } = decided(depositLanded());
const envelope: DepositEnvelope = {
  eventId: eventIdOf(deposit.id, 1, event.at),
  type: event.type,
  schemaVersion: 1,
  depositId: deposit.id,
  version: event.version,
  accountId: deposit.accountId,
  livemode: deposit.livemode,
  commandId: null,
  at: new Date(event.at).toISOString(),
  trace: TRACE,
  data: event.data,
  deposit: depositView(deposit),
};

describe('the id of a deposit', () => {
  const idOf = (account = 'acc_1', index = '0') =>
    depositIdOf(account as typeof samples.ACCOUNT, samples.BASE_SEPOLIA, arrival({ index }), PARTITIONS);

  it('is the same whoever finds the transfer, in whatever block', () => {
    expect(idOf()).toBe(idOf());
    expect(depositIdOf('acc_1' as never, samples.BASE_SEPOLIA, arrival({ block: 7n, at: null }), PARTITIONS)).toBe(
      idOf(),
    );
  });

  it('is another one for another account, transaction or transfer', () => {
    expect(new Set([idOf(), idOf('acc_2'), idOf('acc_1', '1')]).size).toBe(3);
  });

  it('has its partition in it, and all of them are used', () => {
    const ids = Array.from({ length: 200 }, (_, index) => idOf('acc_1', String(index)));
    for (const id of ids) expect(parseDepositId(id, PARTITIONS)).toEqual({ id, partition: partitionOf(id) });
    expect(new Set(ids.map(partitionOf)).size).toBe(PARTITIONS);
    expect(parseDepositId(idOf().replace('dp_', 'pi_'), PARTITIONS)).toBeNull();
  });
});

describe('the messages of deposits', () => {
  it.each([depositLanded(), depositLost(), depositWithdrawn()])(
    'are read as they were written: $type',
    (observation) => {
      expect(parseObservation(encodeInput({ ...observation, trace: TRACE }))).toEqual({ ...observation, trace: TRACE });
      expect(DEPOSIT_OBSERVATION_TYPES).toContain(observation.type);
    },
  );

  it('are read as events of the log, and told from those of intents', () => {
    const read = readRecord(encodeDepositEvent(envelope));
    if (!isDepositEvent(read) || isForeignDeposit(read)) throw new Error('it is not read as an event of a deposit');
    expect(depositEventOf(read)).toEqual(event);
    expect(JSON.stringify(read.deposit)).toBe(JSON.stringify(envelope.deposit));
    expect(() => readEvent(encodeDepositEvent(envelope))).toThrow('intentId');
  });

  it.each([{ type: 'deposit.divided' }, { schemaVersion: 2 }])('are foreign where newer code wrote %j', (change) => {
    const read = readRecord(JSON.stringify({ ...JSON.parse(encodeDepositEvent(envelope)), ...change }));
    if (!isDepositEvent(read) || !isForeignDeposit(read)) throw new Error('it is not foreign');
    expect(depositHeadOf(read)).toMatchObject({ depositId: deposit.id, version: 1, shown: envelope.deposit });
  });

  it('are refused where they lack what every version has', () => {
    const { deposit: _shown, ...without } = envelope;
    expect(() => readRecord(encodeDepositEvent(without as DepositEnvelope))).toThrow();
  });

  it('have a webhook that shows the deposit', () => {
    expect(JSON.parse(depositWebhookBody(envelope) ?? '')).toEqual({
      eventId: envelope.eventId,
      type: 'deposit.received',
      createdAt: envelope.at,
      livemode: false,
      data: { deposit: envelope.deposit },
    });
    expect(depositWebhookBody({ ...envelope, type: 'deposit_divided', isForeign: true })).toBeNull();
  });
});

describe('the stored state of a deposit', () => {
  it('is the same when it is read and stored again, with what newer code has added', () => {
    expect(decodeDeposit(encodeDeposit(deposit))).toEqual(deposit);
    const newer = JSON.stringify({ ...JSON.parse(encodeDeposit(deposit)), note: 'later' });
    expect(encodeDeposit(decodeDeposit(newer))).toContain('"note":"later"');
  });
});
