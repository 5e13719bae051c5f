import { describe, expect, it, jest } from '@jest/globals';
import { isSignedBy, newIntentId, observationKey, parseObservation } from '@pf/contracts';
import { about, samples, watcher } from '@pf/domain/testing';
import { LogUnavailableError, type NewRecord, type Publisher } from '@pf/event-log';
import { createLogger } from '@pf/runtime';
import { publishObservations } from '../src/observations.ts';

const { FIRST, SECOND, BASE_SEPOLIA } = samples;
const KEY = observationKey(Buffer.from('a secret of this test'), BASE_SEPOLIA);
const all = [FIRST, SECOND].map((hash, at) => about(newIntentId(at), watcher.landed(hash)));

/** Publishes both through a log that answers so to each record. */
function bench(answer: (record: NewRecord, attempt: number) => Promise<void>) {
  const log = createLogger('test', 'silent');
  const errors = jest.spyOn(log, 'error');
  let attempts = 0;
  const published: string[] = [];
  const values: string[] = [];
  const publisher = {
    publish: async (_topic: string, record: NewRecord) => {
      await answer(record, (attempts += 1));
      published.push(record.key ?? '');
      values.push(record.value);
    },
  } as unknown as Publisher;
  const seen = {
    network: 'base-sepolia',
    chain: BASE_SEPOLIA,
    key: KEY,
    observations: all,
    began: performance.now(),
    traceOf: () => null,
  };
  const run = (): Promise<boolean> =>
    publishObservations(publisher, seen, new AbortController().signal, log, () => undefined);
  return { run, published, values, errors };
}
const isFirst = (record: NewRecord): boolean => record.key === all[0]?.intentId;

describe('publishObservations', () => {
  it('passes over an observation that the log can never have, with an error, and publishes the others', async () => {
    const { run, published, errors } = bench(async (record) => {
      if (isFirst(record)) throw new RangeError('A record of 2000000 bytes is too large for the log.');
    });
    expect(await run()).toBe(true);
    expect(published).toEqual([all[1]?.intentId]);
    expect(errors).toHaveBeenCalledWith(
      expect.objectContaining({ intentId: all[0]?.intentId, hash: FIRST, type: 'landed' }),
      expect.any(String),
    );
  });

  it('repeats those alone that the log could not take', async () => {
    const { run, published, errors } = bench(async (record, attempt) => {
      if (isFirst(record) && attempt <= 2) throw new LogUnavailableError('no broker');
    });
    expect(await run()).toBe(true);
    expect(published).toEqual([all[1]?.intentId, all[0]?.intentId]);
    expect(errors).not.toHaveBeenCalled();
  });

  it('signs each with the key of its network, which it names', async () => {
    const { run, values } = bench(async () => undefined);
    await run();
    expect(values.map((value) => isSignedBy([KEY], value))).toEqual([true, true]);
    expect(values.map((value) => parseObservation(value).chain)).toEqual([BASE_SEPOLIA, BASE_SEPOLIA]);
  });

  it('throws where the fault is not that of an observation', async () => {
    const { run } = bench(async () => {
      throw new Error('the producer is fenced');
    });
    await expect(run()).rejects.toThrow('the producer is fenced');
  });
});
