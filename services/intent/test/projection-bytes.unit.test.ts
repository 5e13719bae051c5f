import { type CommandMessage, newIntentId, type ObservationMessage } from '@pf/contracts';
import { outcomesIn } from '@pf/database';
import type { Command, IntentId, Observation } from '@pf/domain';
import { about, gateway, samples, watcher } from '@pf/domain/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { create, observed, sent } from './messages.ts';
import { NOW, PartitionModel } from './batches.ts';

const HASHES = [samples.FIRST, samples.SECOND, samples.UNKNOWN] as const;
const hash = fc.constantFrom(...HASHES);

/** Any command for an existing intent. */
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.constantFrom(
    gateway.detect(),
    gateway.cancel(),
    gateway.recordBuild(),
    gateway.recordBuild({ fulfiller: samples.CAROL }),
  ),
  fc.constant(gateway.refund()),
  hash.map((one) => gateway.prepare(one)),
  hash.map((one) => gateway.recordBroadcast(one)),
  hash.map((one) => gateway.release(one)),
  fc
    .constantFrom('pending', 'confirmed', 'finalized', 'failed', 'created')
    .map((state) => gateway.simulate(state as 'pending')),
  fc
    .dictionary(fc.string({ maxLength: 8 }), fc.option(fc.string({ maxLength: 8 })), { maxKeys: 3 })
    .map((metadata) => gateway.update({ updatedAt: NOW, metadata })),
);
const observation: fc.Arbitrary<Observation> = fc.oneof(
  hash.map((one) => watcher.landed(one)),
  hash.map((one) => watcher.landedFinal(one)),
  hash.map((one) => watcher.landed(one, { amount: 1n })),
  hash.map((one) => watcher.reverted(one)),
  hash.map((one) => watcher.dropped(one)),
  hash.map((one) => watcher.lost(one)),
);

interface Step {
  readonly about: number;
  readonly input: Command | Observation;
  readonly afterMs: number;
  readonly endsBatch: boolean;
}
const step: fc.Arbitrary<Step> = fc.record({
  about: fc.nat(3),
  input: fc.oneof({ weight: 2, arbitrary: command }, { weight: 1, arbitrary: observation }),
  afterMs: fc.constantFrom(0, 0, 1, 5_000, 90_000),
  endsBatch: fc.boolean(),
});

const PARTITION = 3;

/** Runs random commands and observations of two intents and their refunds, in random batches. */
function runSteps(steps: readonly Step[]): PartitionModel {
  const model = new PartitionModel();
  const ids: IntentId[] = [];
  const first = [create({ ttlSeconds: 120 }, { partition: PARTITION }), create({}, { partition: PARTITION })];
  ids.push(...first.map(({ intentId }) => intentId));
  model.process(first, NOW);
  let now = NOW;
  let batch: (CommandMessage | ObservationMessage)[] = [];
  for (const { about: which, input, afterMs, endsBatch } of steps) {
    const id = ids[which % ids.length] ?? newIntentId(PARTITION);
    if (input.kind === 'observation') batch.push(observed(about(id, input)));
    else if (input.type === 'refund') {
      const refundIntentId = newIntentId(PARTITION);
      ids.push(refundIntentId);
      batch.push(sent(about(id, gateway.refund(refundIntentId))));
    } else batch.push(sent(about(id, input)));
    if (!endsBatch) continue;
    now += afterMs;
    model.process(batch, now);
    batch = [];
  }
  model.process(batch, now);
  return model;
}

describe('The log of a partition', () => {
  it('folds from empty into its projection, byte for byte, in batches of any length', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 10 }), (steps, length) => {
        const model = runSteps(steps);
        const { rows, history } = model.rebuilt(length);
        expect([...rows].sort()).toEqual([...model.rows].sort());
        expect(history).toEqual(model.history);
      }),
    );
  });

  it('yields the original outcome of every accepted command that changed something', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
        const model = runSteps(steps);
        const found = outcomesIn(model.log, 0).map(({ outcome }) => outcome);
        for (const outcome of found) expect(outcome).toEqual(model.outcomes.get(outcome.commandId));
        const withOutcome = new Set(found.map(({ commandId }) => commandId));
        for (const { commandId } of model.log) if (commandId !== null) expect(withOutcome.has(commandId)).toBe(true);
      }),
    );
  });

  it('does not attribute an expiry to the command that came too late', () => {
    const prepare = { about: 0, input: gateway.prepare(samples.FIRST), endsBatch: true };
    const { log } = runSteps([
      { ...prepare, afterMs: 90_000 },
      { ...prepare, afterMs: 90_000 },
    ]);
    expect(log.filter(({ type }) => type === 'intent.expired').map(({ commandId }) => commandId)).toEqual([null]);
  });
});
