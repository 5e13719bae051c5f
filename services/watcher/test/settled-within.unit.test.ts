import { describe, expect, it } from '@jest/globals';
import { AbandonedError, settledWithin } from '../src/settled-within.ts';

describe('settledWithin', () => {
  it('waits for the work until it is asked to end', async () => {
    expect(
      await settledWithin(
        new Promise((resolve) => setTimeout(() => resolve('done'), 20)),
        new AbortController().signal,
        1,
      ),
    ).toBe('done');
  });

  it('lets the work finish within the grace period after it was asked to end', async () => {
    expect(
      await settledWithin(new Promise((resolve) => setImmediate(() => resolve('done'))), AbortSignal.abort(), 10_000),
    ).toBe('done');
  });

  it('abandons work that never settles', async () => {
    const ended = new AbortController();
    const waiting = settledWithin(new Promise(() => undefined), ended.signal, 5);
    ended.abort();
    await expect(waiting).rejects.toThrow(AbandonedError);
  });

  it('rejects with the error of the work', async () => {
    await expect(settledWithin(Promise.reject(new TypeError('wrong')), AbortSignal.abort(), 10_000)).rejects.toThrow(
      TypeError,
    );
  });
});
