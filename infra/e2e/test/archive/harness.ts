import { expect } from '@jest/globals';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  type Instance,
  readBackingStack,
  startCluster,
  until,
} from '@pf/testing';
import { whileBusy } from '../responses.ts';

const CREATES = 300;
const WORKERS = 8;

/** A gateway that creates intents, and an archive that follows. */
export interface ArchivedCluster {
  readonly cluster: Cluster;
  /** Creates intents while the archive is killed and started again, over and over. @returns how many at least */
  createWhileKilled(): Promise<number>;
  /** What a committed read of the log finds, as `partition intent version` in order. */
  logged(): Promise<readonly string[]>;
}

/** @param env of the archive */
export async function startArchivedCluster(env: Readonly<Record<string, string>> = {}): Promise<ArchivedCluster> {
  const cluster = await startCluster(readBackingStack());
  const startArchive = (): Promise<Instance> => cluster.start('archive', { env });
  const [gateway, , started] = await Promise.all([cluster.start('gateway'), cluster.start('intent'), startArchive()]);
  const api: ApiClient = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
  let archive = started;
  return {
    cluster,
    async createWhileKilled() {
      let left = CREATES;
      const work = Array.from({ length: WORKERS }, async () => {
        while (left-- > 0) {
          const { status } = await whileBusy('an intent', () =>
            api.create({ chain: 'eip155:84532', token: 'USDC', amount: '1', requestor: `0x${'11'.repeat(20)}` }),
          );
          expect(status).toBe(201);
        }
      });
      const kills = (async () => {
        while (left > 0) {
          const before = left;
          await until('some more to be created', () => left <= before - CREATES / 6 || left <= 0);
          archive.kill('SIGKILL');
          await archive.exited;
          archive = await startArchive();
        }
      })();
      await Promise.all([...work, kills]);
      return CREATES;
    },
    async logged() {
      const reader = await cluster.log.reader('test');
      const found: string[] = [];
      for (const [partition, end] of (await reader.endOffsets('intent.events')).entries())
        for await (const { records } of reader.read('intent.events', partition, 0n, end))
          for (const { value } of records) {
            const { intentId, version } = JSON.parse(value ?? '') as { intentId: string; version: number };
            found.push(`${partition} ${intentId} ${version}`);
          }
      await reader.close();
      return found;
    },
  };
}
