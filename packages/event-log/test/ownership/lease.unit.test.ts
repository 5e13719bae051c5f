import { describe, expect, it } from '@jest/globals';
import { ConnectionLease } from '../../src/ownership/lease.ts';
import type { LogConnection } from '../../src/transport.ts';

/** The part of a cluster that a lease uses. */
function openedCluster(): { readonly cluster: LogConnection; closed: boolean } {
  const opened = {
    closed: false,
    cluster: { close: async () => void (opened.closed = true) } as unknown as LogConnection,
  };
  return opened;
}

describe('a connection that several requests share', () => {
  it('is closed after the last request in flight at its retirement, so that none reconnects', async () => {
    const opened = openedCluster();
    const lease = new ConnectionLease(Promise.resolve(opened.cluster));
    const answers = [Promise.withResolvers<string>(), Promise.withResolvers<string>()] as const;
    const asked = answers.map(({ promise }) => lease.ask(() => promise));
    const retired = lease.retire();
    answers[0].resolve('first');
    await expect(asked[0]).resolves.toBe('first');
    expect(opened.closed).toBe(false);
    answers[1].reject(new Error('the broker is unavailable'));
    await expect(asked[1]).rejects.toThrow('the broker is unavailable');
    await retired;
    expect(opened.closed).toBe(true);
  });

  it('is closed at once without requests', async () => {
    const opened = openedCluster();
    await new ConnectionLease(Promise.resolve(opened.cluster)).retire();
    expect(opened.closed).toBe(true);
  });

  it('needs no closing when it could not be opened', async () => {
    const lease = new ConnectionLease(Promise.reject(new Error('no broker listens')));
    await expect(lease.ask(async () => 'never')).rejects.toThrow('no broker listens');
    await expect(lease.retire()).resolves.toBeUndefined();
  });
});
