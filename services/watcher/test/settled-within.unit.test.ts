import { describe, expect, it } from '@jest/globals';
import { AbandonedError, settledWithin } from '../src/settled-within.ts';

describe('waiting for work that may be asked to end', () => {
  it('takes as long as the work does while nobody asks for its end', async () => {
    expect(
      await settledWithin(
        new Promise((resolve) => setTimeout(() => resolve('done'), 20)),
        new AbortController().signal,
        1,
      ),
    ).toBe('done');
  });

  it('lets the work finish within the grace after its end was asked for', async () => {
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

  it('passes on what the work throws', async () => {
    await expect(settledWithin(Promise.reject(new TypeError('wrong')), AbortSignal.abort(), 10_000)).rejects.toThrow(
      TypeError,
    );
  });
});
