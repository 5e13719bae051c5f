import { describe, expect, it } from '@jest/globals';
import { type Database, EndedDeliveries } from '../../src/index.ts';

/** A server that says for each look when it is, the id of its transaction, and the oldest that runs. */
const serverThatSays = (looks: readonly (readonly [at: number, ours: number, oldest: number])[]): Database => {
  const left = looks.map(([at, ours, oldest]) => ({ at: new Date(at), ours: `${ours}`, oldest: `${oldest}` }));
  return { sql: { query: async () => ({ rows: [left.shift()] }) } } as unknown as Database;
};

async function looksAt(...looks: readonly (readonly [number, number, number])[]): Promise<readonly (number | null)[]> {
  const deliveries = new EndedDeliveries(serverThatSays(looks));
  const found: (number | null)[] = [];
  for (let n = 0; n < looks.length; n++) found.push((await deliveries.look())?.getTime() ?? null);
  return found;
}

describe('A look at ended deliveries', () => {
  it('waits until the transactions of the last one have ended', async () => {
    expect(await looksAt([100, 7, 7], [200, 9, 6], [300, 11, 8], [400, 13, 13])).toEqual([null, null, 100, 300]);
  });

  it('starts again in a database that was set back, whose ids are reused', async () => {
    expect(await looksAt([100, 900, 900], [200, 910, 910], [50, 20, 20], [60, 21, 21])).toEqual([null, 100, null, 50]);
  });
});
