import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Cluster,
  freePorts,
  type Instance,
  parseMetrics,
  readBackingStack,
  startCluster,
  until,
} from '@pf/testing';
import { type Anvil, startAnvil } from '@pf/testing/chains';
import { type IntentLog, openIntentLog } from './intent-log.ts';
import { Payer, request } from './payer.ts';
import { observed } from './watching.ts';

const WITHIN_MS = 60_000;

describe('A watcher that compares wallets with the ledger', () => {
  const stack = readBackingStack();
  let cluster: Cluster;
  let chain: Anvil;
  let writer: IntentLog;
  let watcher: Instance;
  let port: number;
  beforeAll(async () => {
    [cluster, chain] = await Promise.all([startCluster(stack), startAnvil({ blockMs: 200, safeDepth: 2 })]);
    writer = await openIntentLog(cluster, stack.kafka);
    [port = 0] = await freePorts(1);
    watcher = await cluster.start('watcher', {
      env: {
        RPC_BASE_SEPOLIA: chain.rpcUrl,
        DEPOSITS: 'true',
        WALLET_CHECK_SECONDS: '1',
        METRICS_PORT: String(port),
      },
    });
  });
  afterAll(async () => {
    await writer.close();
    await chain.stop();
    await cluster.close();
  });

  const checks = async (outcome: string): Promise<number> =>
    parseMetrics(await (await fetch(`http://localhost:${port}/metrics`)).text())
      .filter(({ name, labels }) => name === 'payments_watcher_checks_total' && labels['outcome'] === outcome)
      .reduce((sum, { value }) => sum + value, 0);

  it('tells of a payment that it has observed and that no writer has put into the ledger', async () => {
    // What comes within a minute after a wallet is named is not compared.
    const intent = await request(writer, chain, 1_000_000n, Date.now() - 5 * 60_000);
    await until('a comparison', async () => (await checks('same')) > 0, WITHIN_MS);
    expect(await checks('differs')).toBe(0);
    const hash = await new Payer(chain, 0).pay(intent);
    await observed(cluster, intent.id, 'landed', 'confirmed');
    await until('the difference', async () => (await checks('differs')) === 1, WITHIN_MS);
    const logged = (await readFile(watcher.log, 'utf8')).split('\n').find((line) => line.includes('of it differ'));
    expect(JSON.parse(logged ?? '{}')).toMatchObject({
      wallet: intent.terms.requestor,
      differences: [{ kind: 'missing', hash, arrived: '1000000', told: '0' }],
    });
    expect(await checks('failed')).toBe(0);
  });
});
