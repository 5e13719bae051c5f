import { describe, expect, it } from '@jest/globals';
import { type Part, type PartitionId, SharedWriters } from '../../src/ownership/shared-writers.ts';
import type { NewRecord } from '../../src/port.ts';
import type { PartitionWriter } from '../../src/transport.ts';

const record = (partition: number): NewRecord => ({ partition, key: 'key', value: 'event' });

/** The steps of the writers, in order: looks at ends, and transactions. */
class WriterSteps {
  readonly steps: string[] = [];
  readonly sharing = new SharedWriters({ newId: () => 'delegate', take: async (id) => this.#id(id) });
  /** The looks at this partition wait for `release`. */
  held: number | null = null;
  #held: (() => void)[] = [];

  constructor() {
    this.sharing.delegate(true);
  }

  writer(partition: number): PartitionWriter {
    const own: PartitionId = {
      ...this.#id(`writer-${partition}`),
      endsAt: async (position) => {
        this.steps.push(`look at ${partition} for ${position}`);
        if (this.held === partition) await new Promise<void>((resolve) => void this.#held.push(resolve));
        return true;
      },
    };
    return this.sharing.writer(partition, own, 0n);
  }

  release(): void {
    this.held = null;
    for (const go of this.#held.splice(0)) go();
  }

  /** The steps since the last call. */
  taken(): readonly string[] {
    return this.steps.splice(0);
  }

  #id(id: string): Omit<PartitionId, 'endsAt'> {
    const transact = async (parts: readonly Part[]): Promise<void> => {
      const written = parts.filter(({ append }) => append.length > 0).map(({ partition }) => partition);
      if (written.length > 0) this.steps.push(`${id} writes ${written.join()}`);
    };
    return { id, transact, close: async () => undefined };
  }
}

describe('Transactions of a delegate', () => {
  it('check the previous transaction’s partitions while the next batch is decided', async () => {
    const steps = new WriterSteps();
    const [first, second] = [steps.writer(0), steps.writer(1)];
    await first.commit([record(0)], null, 0n);
    await second.commit([record(1)], null, 0n);
    steps.taken();

    await first.endsAt(2n);
    expect(steps.taken()).toEqual(['look at 0 for 2', 'look at 1 for 2']);
    await first.commit([record(0)], null, 2n);
    expect(steps.taken()).toEqual(['delegate writes 0']);
  });

  it('leave that check to owners deciding in the same turn', async () => {
    const steps = new WriterSteps();
    const [first, second] = [steps.writer(0), steps.writer(1)];
    await Promise.all([first.commit([record(0)], null, 0n), second.commit([record(1)], null, 0n)]);
    steps.taken();

    await Promise.all([first.endsAt(2n), second.endsAt(2n)]);
    expect(steps.taken()).toEqual(['look at 0 for 2', 'look at 1 for 2']);
  });

  it('wait for the marker of the last one in a partition where an earlier look ends late', async () => {
    const steps = new WriterSteps();
    const [first, second] = [steps.writer(0), steps.writer(1)];
    await second.commit([record(1)], null, 0n);
    await first.commit([record(0)], null, 0n);
    steps.held = 0;
    // Looks for the first transaction of partition 0, and gets no response.
    await second.endsAt(2n);
    steps.held = null;
    await first.endsAt(2n);
    await first.commit([record(0)], null, 2n);
    steps.taken();

    steps.release();
    await Promise.resolve();
    await second.commit([record(1)], null, 2n);
    expect(steps.taken()).toEqual(['look at 0 for 4', 'delegate writes 1']);
  });
});
