import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Cluster,
  type Detours,
  type Instance,
  readBackingStack,
  startCluster,
  startTcpProxy,
  until,
} from '@pf/testing';
import { type Anvil, startAnvil } from '@pf/testing/chains';
import { z } from 'zod';
import { type IntentLog, openIntentLog } from './intent-log.ts';
import { Payer, request } from './payer.ts';
import { observed } from './watching.ts';

const status = z.object({
  networks: z.object({
    'base-sepolia': z.looseObject({
      role: z.string(),
      head: z.string().nullable(),
      problem: z.string().nullable(),
      loaded: z.number(),
    }),
  }),
  checks: z.record(z.string(), z.string()),
});

describe('watcher processes', () => {
  const stack = readBackingStack();
  const running: Instance[] = [];
  let cluster: Cluster;
  let chain: Anvil;
  let writer: IntentLog;
  beforeAll(async () => {
    [cluster, chain] = await Promise.all([startCluster(stack), startAnvil({ blockMs: 200 })]);
    writer = await openIntentLog(cluster, stack.kafka);
  });
  afterEach(async () => {
    for (const instance of running) instance.kill('SIGKILL');
    await Promise.all(running.splice(0).map(({ exited }) => exited));
    // As if their leases had run out.
    await cluster.database.sql.query('UPDATE service.network_watches SET holder = NULL, expires_at = NULL');
  });
  afterAll(async () => {
    await writer.close();
    await chain.stop();
    await cluster.close();
  });

  /** @param leaseSeconds short, where a test waits until the process has renewed it in vain */
  async function start(leaseSeconds = 15, detours: Detours = {}): Promise<Instance> {
    const instance = await cluster.start('watcher', {
      detours,
      env: { RPC_BASE_SEPOLIA: chain.rpcUrl, WATCH_LEASE_SECONDS: String(leaseSeconds) },
    });
    running.push(instance);
    return instance;
  }
  const reportOf = async ({ url }: Instance): Promise<z.infer<typeof status>> =>
    status.parse(await (await fetch(`${url}/readyz`)).json());
  const statusOf = async (instance: Instance): Promise<z.infer<typeof status>['networks']['base-sepolia']> =>
    (await reportOf(instance)).networks['base-sepolia'];
  const isActive = async (instance: Instance): Promise<boolean> => {
    const { role, head } = await statusOf(instance);
    return role === 'active' && head !== null;
  };
  const active = (instance: Instance): Promise<true> =>
    until('the watcher to be active', () => isActive(instance), 30_000);
  /** As if a holder that is killed or suspended had been silent for its whole lease. */
  const runOut = (): Promise<unknown> =>
    cluster.database.sql.query(`UPDATE service.network_watches SET expires_at = now() - interval '1 millisecond'`);
  async function pair(leaseSeconds?: number): Promise<{ holder: Instance; other: Instance }> {
    const holder = await start(leaseSeconds);
    await active(holder);
    const other = await start(leaseSeconds);
    expect([await isActive(holder), await isActive(other)]).toEqual([true, false]);
    return { holder, other };
  }

  it('find what landed while none was running', async () => {
    const watcher = await start();
    await active(watcher);
    const [known, unknown] = [await request(writer, chain), await request(writer, chain)];
    await new Payer(chain, 0).pay(known);
    await observed(cluster, known.id, 'landed', 'confirmed');
    watcher.kill('SIGKILL');
    await watcher.exited;
    const hash = await new Payer(chain, 1).pay(unknown);
    const later = await request(writer, chain);
    await chain.mine(3);

    await runOut();
    await active(await start());
    expect((await observed(cluster, unknown.id, 'landed', 'confirmed')).data.hash).toBe(hash);
    await new Payer(chain, 2).pay(later);
    await observed(cluster, later.id, 'landed', 'confirmed');
  });

  it('take over at once from a process that is asked to stop and exits cleanly', async () => {
    const { holder, other } = await pair(300);
    holder.kill('SIGTERM');
    await active(other);
    expect((await holder.exited).code).toBe(0);
  });

  it('take over from a killed process once its lease has expired, and miss nothing', async () => {
    const { holder, other } = await pair();
    const intent = await request(writer, chain);
    holder.kill('SIGKILL');
    await holder.exited;
    const hash = await new Payer(chain, 3).pay(intent);
    await runOut();
    await active(other);
    expect((await observed(cluster, intent.id, 'landed', 'confirmed')).data.hash).toBe(hash);
  });

  it('stand by with all intents in memory, and load none when they take over', async () => {
    const { holder, other } = await pair();
    const { loaded } = await statusOf(holder);
    const intent = await request(writer, chain);
    await until('the standby to have the new intent', async () => (await statusOf(other)).loaded > loaded);
    holder.kill('SIGKILL');
    await holder.exited;
    await runOut();
    await active(other);
    const hash = await new Payer(chain, 6).pay(intent);
    expect((await observed(cluster, intent.id, 'landed', 'confirmed')).data.hash).toBe(hash);
    const logged = await readFile(other.log, 'utf8');
    expect(logged.split('the intents are loaded')).toHaveLength(2);
  });

  it('are not ready before all intents are in memory', async () => {
    const locking = await cluster.database.sql.connect();
    try {
      await locking.query('BEGIN');
      await locking.query('LOCK TABLE ledger.intents IN ACCESS EXCLUSIVE MODE');
      const watcher = await cluster.start('watcher', { wait: false, env: { RPC_BASE_SEPOLIA: chain.rpcUrl } });
      running.push(watcher);
      await until('it to wait for nothing else', async () => {
        const { checks } = await reportOf(watcher);
        return Object.entries(checks).every(([name, check]) => (check === 'ok') === (name !== 'intents'));
      });
      await locking.query('ROLLBACK');
      await active(watcher);
      expect((await reportOf(watcher)).checks['intents']).toBe('ok');
    } finally {
      locking.release(true);
    }
  });

  it('stop watching when they resume after another process has taken over', async () => {
    const { holder, other } = await pair();
    holder.kill('SIGSTOP');
    await runOut();
    await active(other);
    holder.kill('SIGCONT');
    await until('the former holder to stand by', async () => !(await isActive(holder)));
    const intent = await request(writer, chain);
    await new Payer(chain, 4).pay(intent);
    await observed(cluster, intent.id, 'landed', 'confirmed');
    expect([await isActive(holder), await isActive(other)]).toEqual([false, true]);
  });

  it('continue after the database was unavailable for longer than the lease, and miss nothing', async () => {
    const database = await startTcpProxy(new URL(stack.database).host);
    try {
      const watcher = await start(2, { database: database.address });
      await active(watcher);
      await database.cut();
      const intent = await request(writer, chain);
      const hash = await new Payer(chain, 5).pay(intent);
      await until('the watcher to say so', async () => (await statusOf(watcher)).problem !== null, 30_000);
      expect((await fetch(`${watcher.url}/readyz`)).status).toBe(503);
      await database.restore();
      expect((await observed(cluster, intent.id, 'landed', 'confirmed', 30_000)).data.hash).toBe(hash);
    } finally {
      await database.close();
    }
  });

  it('refuse to start for a network without an upstream, naming the variable', async () => {
    const instance = await cluster.start('watcher', { env: { NETWORKS: 'eip155:84532,eip155:4217' }, wait: false });
    expect((await instance.exited).code).toBe(78);
  });
});
