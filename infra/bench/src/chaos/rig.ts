import path from 'node:path';
import { addWebhookEndpoint } from '@pf/database';
import { type Brokers, startBrokers } from '@pf/local/brokers';
import type { KillableProcess } from '@pf/local/killable-process';
import { type ReplicatedPostgres, startReplicatedPostgres } from '@pf/local/replicated-postgres';
import {
  type BackingStack,
  type Cluster,
  type Instance,
  type ServiceName,
  startCluster,
  type TcpProxy,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '@pf/testing';
import { type Anvil, startAnvil } from '@pf/testing/chains';
import { KeptServices } from '../kill-brokers/services.ts';
import { BenchResources } from '../bench-resources.ts';
import { startRedis } from './redis.ts';
import { type Front, startFront } from '../rollout/front.ts';

const BLOCK_MS = 500;
const SERVICES: readonly ServiceName[] = ['gateway', 'gateway', 'intent', 'intent', 'watcher', 'webhook', 'archive'];
/** Services start on a machine that is busy with a fault. */
const READY_MS = 120_000;

/** A whole system of its own whose every part may be killed, suspended or cut off. */
export interface Rig {
  readonly cluster: Cluster;
  readonly services: KeptServices;
  readonly front: Front;
  readonly chain: Anvil;
  readonly receiver: WebhookReceiver;
  readonly postgres: ReplicatedPostgres;
  /** Null where the stack's are used. */
  readonly brokers: Brokers | null;
  readonly redis: { readonly process: KillableProcess; readonly way: TcpProxy } | null;
  /** The folder with the data and logs of its own resources. */
  readonly folder: string;
  /** Ends it. @param keep leaves the folder for a look */
  close(keep: boolean): Promise<void>;
}

/** Services that a short run borrows from the running stack; nothing may disturb them. */
export interface Borrowed {
  readonly kafka: string;
  readonly redis: string;
}

/** @param brokers how many brokers, or those that are borrowed with Redis */
export async function startRig(brokers: 1 | 3 | Borrowed): Promise<Rig> {
  const resources = await BenchResources.in('chaos');
  const { folder } = resources;
  try {
    const [chain, postgres, ownBrokers, redis, receiver, front] = await Promise.all([
      resources.start(startAnvil({ blockMs: BLOCK_MS }), (resource) => resource.stop()),
      resources.start(startReplicatedPostgres(path.join(folder, 'postgres')), (resource) => resource.close()),
      typeof brokers === 'number'
        ? resources.start(startBrokers({ count: brokers, folder: path.join(folder, 'kafka') }), (resource) =>
            resource.close(),
          )
        : null,
      typeof brokers === 'number' ? resources.start(startRedis(folder), (resource) => resource.close()) : null,
      resources.start(webhookReceiver(), (resource) => resource.close()),
      resources.start(startFront(), (resource) => resource.close()),
    ]);
    const borrowed = typeof brokers === 'number' ? { kafka: '', redis: '' } : brokers;
    const stack: BackingStack = {
      database: postgres.url,
      redis: redis?.url ?? borrowed.redis,
      kafka: ownBrokers?.addresses ?? borrowed.kafka,
      chains: {},
    };
    const cluster = await startCluster(stack, [chain], ownBrokers?.replication);
    resources.endBy(() => cluster.close());
    await addWebhookEndpoint(cluster.database, { accountId: cluster.accountId, livemode: false, url: receiver.url });
    const services = new KeptServices(
      cluster,
      (instance) => void joinFront(instance, front),
      ({ url }) => front.remove(url),
    );
    resources.endBy(() => services.stop());
    await services.start(SERVICES);
    await until('a gateway behind the front', () => front.size > 0, READY_MS);
    const close = (keep: boolean): Promise<void> => resources.close(keep);
    return { cluster, services, front, chain, receiver, postgres, brokers: ownBrokers, redis, folder, close };
  } catch (error) {
    await resources.close(false);
    throw error;
  }
}

/** A gateway gets connections when it is ready. */
async function joinFront({ service, url, health, exited }: Instance, front: Front): Promise<void> {
  if (service !== 'gateway') return;
  let gone = false;
  void exited.then(() => (gone = true));
  const ready = await until('the gateway', async () => gone || (await fetch(`${health}/readyz`)).ok, READY_MS).catch(
    // Never ready: it gets none.
    () => false,
  );
  if (ready && !gone) front.add(url);
}
