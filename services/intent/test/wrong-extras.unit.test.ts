import { afterEach, describe, expect, it } from '@jest/globals';
import type { ChainId, IntentId } from '@pf/domain';
import { about, gateway, samples, watcher } from '@pf/domain/testing';
import { recordTo } from '@pf/runtime';
import { WrongExtras } from '../src/wrong-extras.ts';
import { PartitionModel } from './batches.ts';
import { create, observed, of } from './messages.ts';

const NOW = 1_800_000_000_000;
const [FIRST, SECOND] = [samples.FIRST, samples.UNKNOWN];

describe('an extra payment that carries the reference of another intent', () => {
  const model = new PartitionModel();
  const made = create();
  const { intentId } = made;
  const others = { reference: samples.referenceOf(samples.REFUND) };
  const process = (observation: ReturnType<typeof watcher.landed>) =>
    model.process([observed(about(intentId, observation))], NOW + 1);
  model.process([made, of(intentId, gateway.detect())], NOW);
  process(watcher.landed(FIRST));
  process(watcher.landed(SECOND));

  it('is passed on to be told, and changes nothing', () => {
    const { wrongExtras, records } = process(watcher.disproved(SECOND, others));
    expect(wrongExtras).toMatchObject([{ intent: { id: intentId }, transfer: `${SECOND}:0` }]);
    expect(records).toEqual([]);
  });

  it.each([
    ['its settlement, of which the watcher tells', FIRST, others],
    ['another transfer of its transaction', SECOND, { ...others, index: '9' }],
  ])('is not %s', (_what, hash, change) => {
    expect(process(watcher.disproved(hash, change)).wrongExtras).toEqual([]);
  });
});

describe('the operator', () => {
  afterEach(() => recordTo(null));

  it('is told of each wrong extra payment once', () => {
    const [counted, warned]: unknown[][] = [[], []];
    recordTo({ add: (name, by, labels) => void counted?.push([name, by, labels]), record: () => undefined });
    const extras = new WrongExtras({ warn: (fields: unknown) => void warned?.push(fields) } as never);
    const of = (id: string, transfer: string): void =>
      extras.note({ intent: { id: id as IntentId, chain: 'eip155:8453' as ChainId }, transfer });
    of('pi_1', '0x1:0');
    of('pi_1', '0x1:0');
    of('pi_1', '0x1:1');
    of('pi_2', '0x1:0');
    expect(counted).toEqual(Array(3).fill(['payments.extras.disproved', 1, { network: 'base' }]));
    expect(warned).toMatchObject([
      { intentId: 'pi_1', transfer: '0x1:0' },
      { intentId: 'pi_1', transfer: '0x1:1' },
      { intentId: 'pi_2', transfer: '0x1:0' },
    ]);
  });
});
