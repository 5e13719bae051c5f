import { describe, expect, it } from '@jest/globals';
import type { Cluster } from '../../src/kafka/cluster.ts';
import { ClusterLease } from '../../src/ownership/lease.ts';

/** As much of a cluster as a lease touches. */
function openedCluster(): { readonly cluster: Cluster; closed: boolean } {
  const opened = { closed: false, cluster: { close: async () => void (opened.closed = true) } as unknown as Cluster };
  return opened;
}

describe('connections that several questions share', () => {
  it('are closed with the last question that was under way when they were retired, so that none of them connects again', async () => {
    const opened = openedCluster();
    const lease = new ClusterLease(Promise.resolve(opened.cluster));
    const answers = [Promise.withResolvers<string>(), Promise.withResolvers<string>()] as const;
    const asked = answers.map(({ promise }) => lease.ask(() => promise));
    const retired = lease.retire();
    answers[0].resolve('first');
    await expect(asked[0]).resolves.toBe('first');
    expect(opened.closed).toBe(false);
    answers[1].reject(new Error('the broker is away'));
    await expect(asked[1]).rejects.toThrow('the broker is away');
    await retired;
    expect(opened.closed).toBe(true);
  });

  it('are closed at once where nobody asks', async () => {
    const opened = openedCluster();
    await new ClusterLease(Promise.resolve(opened.cluster)).retire();
    expect(opened.closed).toBe(true);
  });

  it('need no closing where they could not be opened', async () => {
    const lease = new ClusterLease(Promise.reject(new Error('nobody listens')));
    await expect(lease.ask(async () => 'never')).rejects.toThrow('nobody listens');
    await expect(lease.retire()).resolves.toBeUndefined();
  });
});
