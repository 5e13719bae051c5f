import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UnscreenedPayments } from '@pf/database';
import type { Address, ChainId, IntentId, TransactionHash } from '@pf/domain';
import { type Cluster, startCluster } from '@pf/testing';
import { runPf } from '../../src/index.ts';

describe('pf sanctions flagged', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.close());

  const pf = async (...args: string[]): Promise<string> => {
    let out = '';
    let errors = '';
    expect(
      await runPf(['sanctions', 'flagged', ...args], {
        environment: { DATABASE_URL: cluster.databaseUrl },
        write: (text) => (out += text),
        writeError: (text) => (errors += text),
      }),
    ).toBe(0);
    expect(errors).toBe('');
    return out;
  };

  it('lists the payments from sanctioned wallets, but not payments that are not screened yet', async () => {
    expect(await pf()).toBe('No payments from sanctioned wallets.\n');
    const payments = new UnscreenedPayments(cluster.database);
    const payment = {
      chain: 'eip155:8453' as ChainId,
      hash: '0xaa' as TransactionHash,
      sender: '0x5A9C1A2b3C4D5E6f708192A3b4C5d6e7F8091a2b' as Address,
      intentId: 'pi_1' as IntentId,
      accountId: null,
      livemode: null,
    };
    await payments.note([payment, { ...payment, hash: '0xbb' as TransactionHash }]);
    expect(await payments.flag(payment, { part: 'list', label: 'ETH', uid: '1', name: 'JANE DOE' })).toBe(true);
    expect(await payments.flag(payment, { part: 'api' })).toBe(false);
    expect(await pf()).toMatch(/eip155:8453 {2}0x5A9C\w+ {2}0xaa +pi_1 +JANE DOE/);
    expect(JSON.parse(await pf('--json'))).toMatchObject({ payments: [{ hash: '0xaa', finding: { uid: '1' } }] });
  });
});
