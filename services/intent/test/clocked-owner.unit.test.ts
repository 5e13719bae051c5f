import type { ClockStanding } from '@pf/clock';
import type { PartitionOwner } from '@pf/event-log';
import { createLogger } from '@pf/runtime';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ClockedOwner } from '../src/clocked-owner.ts';

const HALF_A_MINUTE_MS = 30_000;

/** An owner by a clock that the test sets; `calls` are those of the group's members, numbered in order. */
function ownerBy(
  first: ClockStanding,
  { failure = null, joins = true, idleMs = 7 }: { failure?: Error | null; joins?: boolean; idleMs?: number } = {},
) {
  const calls: string[] = [];
  const crashes: Error[] = [];
  const listeners = new Set<(standing: ClockStanding) => void>();
  const clock = {
    standing: first,
    onChange(listener: (standing: ClockStanding) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  let members = 0;
  const open = (): PartitionOwner<null> => {
    const member = ++members;
    const stopped = Promise.withResolvers<void>();
    return {
      start: async () => {
        if (failure) throw failure;
        if (!joins) return stopped.promise;
        calls.push(`${member} joins`);
      },
      owned: () => [member],
      run: async () => void calls.push(`${member} runs`),
      check: async () => void calls.push(`${member} checks`),
      idleMs: () => idleMs,
      stop: async () => {
        stopped.resolve();
        calls.push(`${member} leaves`);
      },
    };
  };
  const owner = new ClockedOwner({
    clock,
    open,
    onCrash: (error) => crashes.push(error),
    log: createLogger('test', 'silent'),
  });
  const become = async (standing: ClockStanding): Promise<void> => {
    clock.standing = standing;
    for (const listener of listeners) listener(standing);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { owner, calls, crashes, become };
}

describe('An owner by its clock', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance'] }));
  afterEach(() => void jest.useRealTimers());

  it('joins the group once its clock is right', async () => {
    const { owner, calls, become } = ownerBy('wrong');
    await owner.start();
    await owner.run(1, null, async () => ({ append: [], context: null, position: 0n }));
    expect([calls, owner.owned(), owner.idleMs()]).toEqual([[], [], 0]);
    await become('right');
    expect([calls, owner.owned(), owner.idleMs()]).toEqual([['1 joins'], [1], 7]);
  });

  it('leaves the group while its clock is wrong, and joins it as a new member afterwards', async () => {
    const { owner, calls, become } = ownerBy('right');
    await owner.start();
    await become('wrong');
    expect(owner.owned()).toEqual([]);
    await become('right');
    await owner.stop();
    expect(calls).toEqual(['1 joins', '1 leaves', '2 joins', '2 leaves']);
  });

  it('stays in the group while its clock cannot be compared: no other process could do better', async () => {
    const { owner, calls, become } = ownerBy('right');
    await owner.start();
    await become('unproven');
    await jest.advanceTimersByTimeAsync(HALF_A_MINUTE_MS - 1);
    await become('right');
    await jest.advanceTimersByTimeAsync(10 * HALF_A_MINUTE_MS);
    expect(calls).toEqual(['1 joins']);
  });

  it('leaves the group when its clock could not be compared for half a minute, and joins it again', async () => {
    const { owner, calls, become } = ownerBy('right');
    await owner.start();
    await become('unproven');
    await jest.advanceTimersByTimeAsync(HALF_A_MINUTE_MS);
    expect([calls, owner.owned()]).toEqual([['1 joins', '1 leaves'], []]);
    await become('right');
    expect(calls).toEqual(['1 joins', '1 leaves', '2 joins']);
    await owner.stop();
  });

  it('does not leave a group that does not respond: it has dropped the member by itself', async () => {
    const { owner, calls, become } = ownerBy('right', { idleMs: 2 * HALF_A_MINUTE_MS });
    await owner.start();
    await become('unproven');
    await jest.advanceTimersByTimeAsync(10 * HALF_A_MINUTE_MS);
    await become('right');
    expect(calls).toEqual(['1 joins']);
  });

  it('stops at once while it joins', async () => {
    const { owner, calls } = ownerBy('right', { joins: false });
    const starting = owner.start();
    await new Promise((resolve) => setImmediate(resolve));
    await owner.stop();
    await starting;
    expect(calls).toEqual(['1 leaves']);
  });

  it('does not join again after it was stopped', async () => {
    const { owner, calls, become } = ownerBy('right');
    await owner.start();
    await owner.stop();
    await become('right');
    expect(calls).toEqual(['1 joins', '1 leaves']);
  });

  it('ends the process when the group cannot be joined later, and fails to start when it cannot at once', async () => {
    const failure = new Error('no group');
    await expect(ownerBy('right', { failure }).owner.start()).rejects.toThrow('no group');
    const { owner, crashes, become } = ownerBy('wrong', { failure });
    await owner.start();
    await become('right');
    expect(crashes).toEqual([failure]);
  });
});
